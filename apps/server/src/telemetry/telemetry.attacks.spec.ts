import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { Logger } from '@nestjs/common';
import { newEvent } from '@belay/protocol';
import { keptBytes, sampled, until } from '@belay/testing';
import { metricsOnFreePort } from '@belay/testkit';
import { TestServer } from '../testing/server.js';
import { OtlpReceiver } from './testing/otlp-receiver.js';
import { scrape } from './testing/scrape.js';
import { setVariables, tracesTo, unsetVariables } from './testing/standard-variables.js';

const usage = (model: string) =>
  newEvent('server', 'usage', {
    args: {
      model,
      purpose: 'side',
      inputTokens: 1,
      cachedTokens: 0,
      outputTokens: 1,
      dollars: null,
      contextTokens: 1,
      contextWindow: null,
    },
    message: '',
  });

/** Ends calls as the agent, in batches. */
async function calls(server: TestServer, session: string, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await server.sandboxes.says(server.log, session, { action: 'system.time', id });
    const args = { operation: 'system.time', ok: true, output: {}, seconds: 0 };
    await server.sandboxes.says(server.log, session, { action: 'result', args, id });
  }
}

const idsOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${name}${at}`);

let server: TestServer;
beforeEach(() => {
  server = new TestServer();
});
afterEach(async () => {
  await server.close();
  unsetVariables();
});

describe('hostile names in metrics', () => {
  const hostile = '"} 1\nbelay_forged_total{x="\\';

  it('become labels that any reader takes for one value, and no series of their own', async () => {
    const { variables, url } = await metricsOnFreePort();
    await server.start(setVariables(variables));
    const id = await server.session();
    await server.log.append(id, [usage(`openai:${hostile}`)]);
    const { sample, labels } = await scrape(url);
    const name = 'gen_ai_client_inference_usage_input_tokens_total';
    expect(sample(name, { gen_ai_request_model: hostile })).toBe(1);
    expect(labels('belay_forged_total')).toEqual([]);
  });

  it('of tools are counted by what serves them', async () => {
    const { variables, url } = await metricsOnFreePort();
    await server.start(setVariables(variables));
    const id = await server.session();
    for (const [at, action] of [`mcp.x.${hostile}`, `tool.x.${hostile}`, 'system.time'].entries()) {
      await server.sandboxes.says(server.log, id, { action, id: `c${at}` });
      const args = { operation: action, ok: true, output: {}, seconds: 0 };
      await server.sandboxes.says(server.log, id, { action: 'result', args, id: `c${at}` });
    }
    const { labels } = await scrape(url);
    const tools = labels('gen_ai_execute_tool_duration_count');
    expect(tools.map((each) => each['gen_ai_tool_name']).toSorted()).toEqual([
      'mcp',
      'system.time',
      'tool',
    ]);
  });

  it('of models fill neither the memory nor the page: further ones are counted together', async () => {
    const { variables, url } = await metricsOnFreePort();
    await server.start(setVariables(variables));
    const id = await server.session();
    await server.log.append(id, idsOf('openai:model', 3_000).map(usage));
    const { labels } = await scrape(url);
    const series = labels('gen_ai_client_inference_usage_input_tokens_total');
    expect(series.length).toBeLessThanOrEqual(500);
    expect(series.some((each) => each['otel_metric_overflow'] === 'true')).toBe(true);
  });
});

describe('a bad receiver of traces', () => {
  let receiver: OtlpReceiver;
  let logged: jest.SpiedFunction<Logger['error']>;
  beforeEach(async () => {
    receiver = await new OtlpReceiver().start();
    logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
  });
  afterEach(async () => {
    logged.mockRestore();
    await receiver.close();
  });

  /** Starts with short limits, so that the queue is full soon. */
  const start = (url: string, timeoutMs = 500) =>
    server.start(
      setVariables({
        ...tracesTo(url),
        OTEL_BSP_MAX_QUEUE_SIZE: '64',
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '32',
        OTEL_EXPORTER_OTLP_TIMEOUT: String(timeoutMs),
      }),
    );

  const bad: [string, (one: OtlpReceiver) => string | Promise<string>][] = [
    [
      'that never answers',
      (one) => {
        one.answer = () => undefined;
        return one.url;
      },
    ],
    [
      'that is down',
      async () => {
        const closed = await new OtlpReceiver().start();
        const { url } = closed;
        await closed.close();
        return url;
      },
    ],
    [
      'that answers with an endless body',
      (one) => {
        one.answer = (response) => {
          const more = (): void => {
            while (!response.destroyed && response.write('x'.repeat(65_536)));
          };
          response.on('drain', more).writeHead(200);
          more();
        };
        return one.url;
      },
    ],
    [
      'that refuses with much text',
      (one) => {
        one.answer = (response) => response.writeHead(400).end('x\u001b[31m'.repeat(100_000));
        return one.url;
      },
    ],
    [
      'that asks to come back in a year',
      (one) => {
        one.answer = (response) => response.writeHead(503, { 'retry-after': '31536000' }).end();
        return one.url;
      },
    ],
  ];

  it.each(sampled(1, bad))(
    '%s does not hold up the server, and fills neither memory nor log',
    async (_, set) => {
      await start(await set(receiver));
      const id = await server.session();
      await calls(server, id, idsOf('first', 100));
      const before = keptBytes();
      await calls(server, id, idsOf('more', 400));
      expect(keptBytes() - before).toBeLessThan(8 * 2 ** 20);
      const lines = logged.mock.calls.map(([message]) => String(message));
      expect(Math.max(0, ...lines.map(({ length }) => length))).toBeLessThanOrEqual(500);
      expect((await server.fetch('/health/live', { token: '' })).status).toBe(200);
    },
  );

  it('does not hold up a shutdown', async () => {
    receiver.answer = () => undefined;
    await start(receiver.url, 60_000);
    const id = await server.session();
    await server.sandboxes.finishes(server.log, id);
    await until('it was asked', () => receiver.requests > 0);
    const begun = performance.now();
    await server.app.close();
    // The SDK alone would wait for half a minute.
    expect(performance.now() - begun).toBeLessThan(15_000);
    await server.start();
  });

  it('gets later spans once it works again', async () => {
    receiver.answer = (response) => response.writeHead(400).end();
    await start(receiver.url);
    const id = await server.session();
    await calls(server, id, idsOf('lost', 10));
    await until('the receiver refused', () => receiver.requests > 0);
    receiver.answer = (response) =>
      response.setHeader('content-type', 'application/json').end('{}');
    await calls(server, id, ['kept']);
    await server.sandboxes.finishes(server.log, id);
    await receiver.of(id, 'invoke_agent belay');
  });
});

describe('the port of the metrics', () => {
  let taken: Server;
  afterEach(() => taken.close());

  it('that is taken does not keep the server from starting, and is reported', async () => {
    const { variables, url } = await metricsOnFreePort();
    taken = createServer((socket) => socket.destroy()).listen(
      Number(new URL(url).port),
      '127.0.0.1',
    );
    await once(taken, 'listening');
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    await server.start(setVariables(variables));
    await until('it is reported', () =>
      logged.mock.calls.some(([message]) => String(message).includes('EADDRINUSE')),
    );
    logged.mockRestore();
    expect((await server.fetch('/health/live', { token: '' })).status).toBe(200);
  });
});
