import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { metricsOnFreePort, untilWarm, type BelayServer } from '@belay/testkit';
import { withServer } from './platform.ts';
import { sendPlayedReply } from './played-model.ts';
import { median, percentile } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title =
  'a webhook of an automation: until it is answered, and until its session asks the model';

const samplesTaken = 20;
/** By how much an automation may be later than a session that a client creates, in milliseconds. */
const mostAddedMs = 1_000;

/** Both kinds of sessions alternate, so that they run under the same load. */
export async function measure(): Promise<Row[]> {
  const metrics = await metricsOnFreePort();
  const model = await openAskedModel();
  const environment = {
    BELAY_POOL: '1',
    OPENAI_COMPATIBLE_BASE_URL: `${model.url}/v1`,
    OPENAI_COMPATIBLE_API_KEY: 'none',
    ...metrics.variables,
  };
  try {
    return await withServer(environment, async (server) => {
      const hook = await addAutomation(server);
      const answered: number[] = [];
      const asked: number[] = [];
      const floors: number[] = [];
      for (let sample = 0; sample < samplesTaken; sample += 1) {
        await untilWarm(server, 1, metrics.url);
        const floor = await model.timed(() => create(server));
        floors.push(floor.asked);
        await untilWarm(server, 1, metrics.url);
        const taken = await model.timed(() => hook(sample));
        answered.push(taken.answered);
        asked.push(taken.asked);
      }
      const floor = median(floors);
      return [
        { what: 'answered, p95', figure: percentile(answered, 0.95), unit: 'ms', target: 100 },
        {
          what: 'first request to the model, median',
          figure: median(asked),
          unit: 'ms',
          target: floor + mostAddedMs,
          floor,
        },
      ];
    });
  } finally {
    model.close();
  }
}

const name = 'openai-compatible:bench';

const create = (server: BelayServer): Promise<unknown> =>
  server.client.sessions.create({ task: 'Look', model: name, approvals: 'auto' });

/** Adds an automation with a URL; returns what sends it the request of this number. */
async function addAutomation(server: BelayServer): Promise<(request: number) => Promise<void>> {
  const { automations } = server.client;
  const text = JSON.stringify({
    name: 'alert',
    on: { url: true, key: 'id' },
    run: { task: 'Look', model: name, budgets: { tokens: 100_000 } },
    lane: { key: 'alert:{key}', cooldown: '1s', perHour: 1_000, stopWhenNoChange: false },
  });
  await automations.add({ text });
  const { url, secret } = await automations.secret('alert');
  return async (request) => {
    const response = await fetch(new URL(new URL(url).pathname, server.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ id: `a${request}` }),
    });
    if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
  };
}

/** A language model that says one word, and tells when it was asked. */
async function openAskedModel() {
  let onAsked: () => void = () => {};
  const server = createServer((request, response) => {
    if (request.method === 'GET') return void response.end();
    onAsked();
    request.resume();
    sendPlayedReply(response, 0, { text: 'Done.' });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** How long a request takes, and how long it takes until the model is asked, in milliseconds. */
    async timed(send: () => Promise<unknown>): Promise<{ answered: number; asked: number }> {
      const first = new Promise<number>((resolve) => {
        onAsked = () => resolve(performance.now());
      });
      const begun = performance.now();
      await send();
      const answered = performance.now() - begun;
      return { answered, asked: (await first) - begun };
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
