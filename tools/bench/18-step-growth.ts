import { once } from 'node:events';
import { Agent, createServer, request as post, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isEnded } from '@belay/protocol';
import { start, type BelayServer } from '@belay/testkit';
import { processorTime } from './processor-time.ts';
import { withServer } from './platform.ts';
import { median, timed } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = 'the platform’s own cost of a step, shell call `echo`';

const early = 20;
const late = 2_000;
/** This many steps before and after the measured one are sampled as well. */
const around = 9;
/**
 * Processor time is measured over this many steps, apart from the sampled ones, because reading it
 * takes time.
 */
const stretch = 100;
const stretches = { early: early + around + 1, late: late - around - 1 - stretch };

/**
 * From the end of a reply to the last byte of the next request. The floor is sending only that
 * request’s bytes over one connection.
 */
export async function measure(): Promise<Row[]> {
  let spent: (step: number) => Promise<void> = async () => undefined;
  const times = new Map<number, number>();
  const model = await openModel(late + around, (step) => spent(step));
  const environment = {
    OPENAI_COMPATIBLE_BASE_URL: `${model.url}/v1`,
    OPENAI_COMPATIBLE_API_KEY: 'none',
  };
  try {
    const steps = await withServer(environment, async (server) => {
      const session = await start(server, {
        task: 'Echo.',
        model: 'openai-compatible:bench',
        budgets: { steps: late + 2 * around },
      });
      spent = async (step) => {
        const begun = step - stretch;
        if (Object.values(stretches).some((from) => from === step || from === begun))
          times.set(step, await processorTime(server, session.id));
      };
      // A viewer would take processor time from the measured steps.
      session.close();
      return Promise.race([model.steps, untilEnded(server, session.id)]);
    });
    const [first, last] = [at(steps, early), at(steps, late)];
    const during = (from: number) =>
      ((times.get(from + stretch) ?? NaN) - (times.get(from) ?? NaN)) / stretch;
    const floors = { first: await floorOf(model.url, first), last: await floorOf(model.url, last) };
    return [
      { what: `step ${early}`, figure: first.ms, unit: 'ms', target: 25, floor: floors.first },
      { what: `step ${late}`, figure: last.ms, unit: 'ms', target: null, floor: floors.last },
      {
        what: `step ${late} without its floor, over step ${early} without its own`,
        figure: (last.ms - floors.last) / (first.ms - floors.first),
        unit: '×',
        target: 1.5,
      },
      {
        what: `processor time of a step before step ${late}, over one after step ${early}`,
        figure: during(stretches.late) / during(stretches.early),
        unit: '×',
        target: null,
      },
      { what: `prompt of step ${late}`, figure: last.bytes / 1000, unit: 'kB', target: null },
    ];
  } finally {
    model.close();
  }
}

/** Rejects when the session ends; polls rarely, so as not to affect the measured steps. */
async function untilEnded(server: BelayServer, id: string): Promise<never> {
  for (;;) {
    await new Promise((done) => setTimeout(done, 5_000));
    const { state, reason } = await server.client.sessions.get(id);
    if (isEnded(state)) throw new Error(`The session ended early (${state}): ${reason}`);
  }
}

interface Step {
  ms: number;
  bytes: number;
}

/** The medians of the steps around this one. */
function at(steps: readonly Step[], step: number): Step {
  const near = steps.slice(step - 1 - around, step + around);
  return { ms: median(near.map(({ ms }) => ms)), bytes: median(near.map(({ bytes }) => bytes)) };
}

/**
 * A language model that calls for `count` commands and then finishes; it ignores the requests and
 * replies at once.
 */
async function openModel(count: number, stepped: (step: number) => Promise<void>) {
  const samples: Step[] = [];
  const { promise: steps, resolve } = Promise.withResolvers<Step[]>();
  let replied = 0;
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => {
      if (request.url === '/floor' || request.method === 'GET') return void response.end();
      if (replied > 0) samples.push({ ms: performance.now() - replied, bytes });
      if (samples.length === count) resolve(samples);
      stepped(samples.length).catch((error: unknown) => console.error(error));
      reply(response, samples.length, count);
      response.once('finish', () => (replied = performance.now()));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    steps,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function reply(response: ServerResponse, step: number, count: number): void {
  const [name, input] =
    step < count
      ? ['terminal_run', { command: `echo step ${step} of a session that grows` }]
      : ['finish', { summary: 'Echoed.' }];
  const call = { name, arguments: JSON.stringify(input) };
  const tool = { index: 0, id: `call_${step}`, type: 'function', function: call };
  const delta = { role: 'assistant', content: `I take step ${step}.`, tool_calls: [tool] };
  const chunk = (choice: object) =>
    `data: ${JSON.stringify({ id: `r${step}`, object: 'chat.completion.chunk', created: 0, model: 'bench', choices: [{ index: 0, ...choice }] })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk({ delta, finish_reason: null }));
  response.end(`${chunk({ delta: {}, finish_reason: 'tool_calls' })}data: [DONE]\n\n`);
}

/** Posts as many bytes as the step’s request to the same process, over a kept-alive connection. */
async function floorOf(url: string, { bytes }: Step): Promise<number> {
  const body = Buffer.alloc(bytes, 'x');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const once = () =>
    new Promise<void>((resolve, reject) => {
      const sent = post(`${url}/floor`, { method: 'POST', agent }, (response) => {
        response.resume().once('end', resolve);
      });
      sent.once('error', reject);
      sent.end(body);
    });
  await timed(5, once);
  const samples = await timed(20, once);
  agent.destroy();
  return median(samples);
}
