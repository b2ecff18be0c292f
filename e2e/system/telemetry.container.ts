import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { until } from '@belay/testing';
import { BelayServer, metricsOnFreePort, run, script, start } from '@belay/testkit';
import { scrape } from '../../apps/server/src/telemetry/testing/scrape.js';

describe('the telemetry of the built server', () => {
  let collector: Server;
  let server: BelayServer;
  let metrics: string;
  /** What the collector got: protobuf, which has texts as they are. */
  let received = '';
  beforeAll(async () => {
    collector = createServer((request, response) => {
      void buffer(request).then((body) => {
        if (request.headers['content-type'] === 'application/x-protobuf') received += String(body);
        response.setHeader('content-type', 'application/x-protobuf').end();
      });
    });
    await once(collector.listen(0, '127.0.0.1'), 'listening');
    const { variables, url } = await metricsOnFreePort();
    metrics = url;
    server = new BelayServer({
      ...variables,
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      OTEL_BSP_SCHEDULE_DELAY: '20',
    });
    await server.start();
  });
  afterAll(async () => {
    await server.dispose();
    collector.closeAllConnections();
    await once(collector.close(), 'close');
  });

  it('has a session’s turn as a trace and in the metrics, and none of its texts', async () => {
    const model = script(server.data, [{ calls: [run('echo SECRET')] }, { finish: 'SECRET' }]);
    const session = await start(server, { task: 'SECRET', model });
    await session.finished();
    session.close();
    await until('the turn was sent', () => received.includes('invoke_agent belay'));
    for (const name of ['start_sandbox', 'execute_tool terminal.run', 'chat scripted', session.id])
      expect(received).toContain(name);
    const { text, sample } = await scrape(metrics);
    expect(sample('belay_sessions', { state: 'finished' })).toBe(1);
    expect(sample('gen_ai_invoke_agent_duration_count', {})).toBe(1);
    const tool = { gen_ai_tool_name: 'terminal.run' };
    expect(sample('gen_ai_execute_tool_duration_count', tool)).toBe(1);
    for (const hidden of ['SECRET', server.data, server.token]) {
      expect(received).not.toContain(hidden);
      expect(text).not.toContain(hidden);
    }
  });
});
