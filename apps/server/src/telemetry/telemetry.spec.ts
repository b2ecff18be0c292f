import { outgoingKind } from '@belay/protocol';
import { metricsOnFreePort } from '@belay/testkit';
import { Deliveries } from '../automations/triggers/deliveries.js';
import { TestServer } from '../testing/server.js';
import { scrape } from './testing/scrape.js';
import { OtlpReceiver } from './testing/otlp-receiver.js';
import { setVariables, tracesTo, unsetVariables } from './testing/standard-variables.js';
import { usageEvent } from './testing/usage-event.js';

const run = { action: 'terminal.run', args: { command: 'cat /home/SECRET' }, id: 'c1' };
const ran = {
  action: 'result',
  args: { operation: 'terminal.run', ok: true, output: 'SECRET', seconds: 1 },
  id: 'c1',
};
const usage = usageEvent();
const say = { action: 'say', args: { text: 'SECRET reply', calls: [] } };

afterEach(unsetVariables);

describe('traces', () => {
  let receiver: OtlpReceiver;
  let server: TestServer;
  beforeEach(async () => {
    receiver = await new OtlpReceiver().start();
    server = new TestServer();
  });
  afterEach(async () => {
    await server.close();
    await receiver.close();
  });

  const start = (more: Record<string, string> = {}) =>
    server.start(setVariables({ ...tracesTo(receiver.url), ...more }));

  it('sends a turn with its requests and calls as one trace', async () => {
    await start();
    const id = await server.session({ task: 'SECRET task', title: 'SECRET title' });
    await server.log.append(id, [usage]);
    await server.sandboxes.says(server.log, id, say);
    await server.sandboxes.says(server.log, id, run);
    await server.sandboxes.says(server.log, id, ran);
    await server.sandboxes.finishes(server.log, id, 'SECRET summary');
    const spans = await receiver.of(id, 'invoke_agent belay');
    const root = spans.find(({ name }) => name === 'invoke_agent belay');
    expect(root?.parentSpanId ?? '').toBe('');
    expect(root?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.usage.input_tokens': 100,
      'belay.turn.end': 'finished',
    });
    const parts = spans.filter((span) => span !== root);
    expect(parts.map(({ name }) => name).toSorted()).toEqual([
      'chat claude-x',
      'execute_tool finish',
      'execute_tool terminal.run',
      'start_sandbox',
    ]);
    for (const part of parts) {
      expect(part.traceId).toBe(root?.traceId);
      expect(part.parentSpanId).toBe(root?.spanId);
    }
    const request = parts.find(({ name }) => name.startsWith('chat'));
    expect(request?.attributes['gen_ai.response.finish_reasons']).toEqual(['stop']);
    const nanos = BigInt(request?.endTimeUnixNano ?? 0) - BigInt(request?.startTimeUnixNano ?? 0);
    expect(Number(nanos) / 1e9).toBeCloseTo(0.25, 3);
    expect(receiver.resource).toMatchObject({ 'service.name': 'belay' });
    const all = JSON.stringify([receiver.spans, receiver.resource]);
    for (const secret of ['SECRET', server.data, server.token, process.execPath])
      expect(all).not.toContain(secret);
  });

  it('contains the texts if the standard variable asks for them', async () => {
    await start({ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'SPAN_ONLY' });
    const id = await server.session({ task: 'SECRET task' });
    await server.log.append(id, [usage]);
    await server.sandboxes.says(server.log, id, say);
    await server.sandboxes.says(server.log, id, run);
    await server.sandboxes.says(server.log, id, ran);
    await server.sandboxes.finishes(server.log, id);
    const all = JSON.stringify(await receiver.of(id, 'invoke_agent belay'));
    for (const text of ['SECRET task', 'SECRET reply', 'cat /home/SECRET'])
      expect(all).toContain(text);
  });

  it('sends a turn that a restart of the server interrupted once and whole', async () => {
    await start();
    const id = await server.session();
    await server.sandboxes.says(server.log, id, run);
    await server.sandboxes.says(server.log, id, { ...run, id: 'c2' });
    await server.sandboxes.says(server.log, id, { ...ran, id: 'c2' });
    await receiver.of(id, 'execute_tool terminal.run');
    await server.restart(setVariables(tracesTo(receiver.url)));
    await server.sandboxes.says(server.log, id, ran);
    await server.sandboxes.finishes(server.log, id);
    const spans = await receiver.of(id, 'invoke_agent belay');
    expect(spans.map(({ name }) => name).toSorted()).toEqual([
      'execute_tool finish',
      'execute_tool terminal.run',
      'execute_tool terminal.run',
      'invoke_agent belay',
      'start_sandbox',
    ]);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(5);
    const root = spans.find(({ name }) => name === 'invoke_agent belay');
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([root?.traceId]));
    const [start1] = await server.log.read(id, { after: 0, limit: 1 });
    expect(Number(BigInt(root?.startTimeUnixNano ?? 0) / 1_000_000n)).toBe(
      Date.parse(start1?.time ?? ''),
    );
  });

  it('sends what had ended when the server is stopped', async () => {
    await start({ OTEL_BSP_SCHEDULE_DELAY: '60000' });
    const id = await server.session();
    await server.sandboxes.finishes(server.log, id);
    await server.app.close();
    expect(receiver.spans.map(({ name }) => name)).toContain('invoke_agent belay');
    await server.start();
  });

  it('leaves out whole traces that the sampler leaves out', async () => {
    await start({
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.5',
    });
    const ids = await Promise.all(Array.from({ length: 16 }, () => server.session()));
    for (const id of ids) await server.sandboxes.finishes(server.log, id);
    await server.restart(setVariables(tracesTo(receiver.url)));
    const traces = Map.groupBy(receiver.spans, ({ traceId }) => traceId);
    expect(traces.size).toBeGreaterThan(0);
    expect(traces.size).toBeLessThan(16);
    for (const spans of traces.values()) expect(spans).toHaveLength(3);
  });

  it.each<Record<string, string>>([
    { OTEL_SDK_DISABLED: 'true' },
    { OTEL_TRACES_EXPORTER: 'none' },
    { OTEL_TRACES_EXPORTER: '' },
  ])('sends nothing with %j', async (off) => {
    await start(off);
    const id = await server.session();
    await server.sandboxes.finishes(server.log, id);
    await server.app.close();
    expect(receiver.requests).toBe(0);
    await server.start();
  });
});

describe('metrics', () => {
  const server = new TestServer();
  afterEach(() => server.close());

  it('has counts, tokens and durations in the format of Prometheus', async () => {
    const { variables, url } = await metricsOnFreePort();
    await server.start(setVariables(variables));
    const id = await server.session();
    await server.log.append(id, [usage]);
    await server.sandboxes.says(server.log, id, say);
    await server.sandboxes.says(server.log, id, run);
    await server.sandboxes.says(server.log, id, ran);
    const { text, sample } = await scrape(url);
    const model = { gen_ai_provider_name: 'anthropic', gen_ai_request_model: 'claude-x' };
    expect(sample('belay_sessions', { state: 'running' })).toBe(1);
    expect(sample('belay_sessions', { state: 'failed' })).toBe(0);
    expect(sample('belay_sandboxes', { state: 'connected' })).toBe(1);
    expect(sample('belay_viewers', {})).toBe(0);
    expect(sample('belay_events_total', { source: 'agent' })).toBe(3);
    expect(sample('gen_ai_client_inference_usage_input_tokens_total', model)).toBe(100);
    expect(sample('belay_usage_dollars_total', model)).toBe(0.5);
    expect(sample('gen_ai_client_inference_duration_count', model)).toBe(1);
    expect(sample('gen_ai_client_inference_duration_sum', model)).toBe(0.25);
    expect(sample('gen_ai_client_inference_duration_bucket', { ...model, le: '0.32' })).toBe(1);
    const tool = { gen_ai_tool_name: 'terminal.run' };
    expect(sample('gen_ai_execute_tool_duration_count', tool)).toBe(1);
    expect(sample('process_memory_usage', {})).toBeGreaterThan(1e7);
    expect(sample('nodejs_eventloop_delay_p99', {})).toBeGreaterThan(0);
    for (const hidden of [id, 'SECRET', server.data]) expect(text).not.toContain(hidden);
  });

  it('counts what automations learn of and do, without a name', async () => {
    const { variables, url } = await metricsOnFreePort();
    await server.start(setVariables(variables));
    const text = 'name: secret-name\non: {url: true}\nrun: {task: x, budgets: {dollars: 1}}';
    await server.json('POST', '/api/automations', { text });
    const made = await server.json<{ url: string; secret: string }>(
      'POST',
      '/api/automations/secret-name/secret',
    );
    const post = () =>
      fetch(new URL(new URL(made.url).pathname, server.url), {
        method: 'POST',
        headers: { authorization: `Bearer ${made.secret}`, 'idempotency-key': 'SECRET' },
        body: '{}',
      });
    expect([(await post()).status, (await post()).status]).toEqual([202, 202]);
    const run = await server.json('POST', '/api/automations/secret-name/run', { dry: true });
    expect(run).toMatchObject({ run: { state: 'skipped' } });
    await server.app.get(Deliveries).drained();
    const { text: all, sample, labels } = await scrape(url);
    const deliveries = (state: string) =>
      sample('belay_automation_deliveries_total', { transport: 'url', state });
    expect(['received', 'done', 'duplicate', 'refused'].map(deliveries)).toEqual([1, 1, 1, 0]);
    expect(sample('belay_automation_runs_total', { state: 'pending' })).toBe(2);
    expect(sample('belay_automation_runs_total', { state: 'skipped' })).toBe(1);
    expect(sample('belay_automation_outgoing_total', { kind: 'comment', state: 'sent' })).toBe(0);
    expect(labels('belay_automation_outgoing_total')).toHaveLength(outgoingKind.options.length * 4);
    for (const hidden of ['secret-name', 'SECRET', made.secret]) expect(all).not.toContain(hidden);
  });

  it('is off by default, and its address on the server’s own port is gone', async () => {
    await server.start();
    expect((await server.fetch('/metrics')).status).toBe(404);
  });
});
