import { newEvent, type Budgets } from '@belay/protocol';
import { until } from '@belay/testing';
import { failedResponse, streaming, type ProviderServer } from '../testing/provider-server.js';
import { anthropicMessages } from '../testing/provider-wires.js';
import { messagesPath, messagesRequest, WireBench } from '../testing/wire-bench.js';

describe('attacks: requests of programs past budgets, pauses and ends', () => {
  const wire = anthropicMessages;
  let provider: ProviderServer;
  let bench: WireBench;
  beforeEach(async () => {
    bench = await WireBench.open(wire);
    ({ provider } = bench);
  });
  afterEach(() => bench.close());
  const usage = { input: 50, output: 10 };
  const yes = () => streaming(wire.reply({ text: 'Yes.', usage }));
  const summary = () => bench.logs.log.summary('s');
  const user = (action: 'pause' | 'resume' | 'stop') =>
    bench.logs.log.append('s', [newEvent('user', action, { args: {}, message: action })]);
  const send = async (more: object = {}, signal?: AbortSignal) => {
    const response = await bench.post(
      messagesPath,
      messagesRequest(more),
      signal ? { signal } : {},
    );
    return { status: response.status, body: await response.text() };
  };

  it.each<[string, Partial<Budgets>, (used: Awaited<ReturnType<typeof summary>>) => boolean]>([
    ['steps', { steps: 5 }, ({ steps }) => steps === 5],
    ['tokens', { steps: null, tokens: 400 }, ({ tokens }) => tokens <= 460 && tokens >= 400],
    // 60 tokens of 50 in and 10 out cost $0.0003.
    [
      'dollars',
      { steps: null, dollars: 0.002 },
      ({ dollars }) => dollars <= 0.0023 && dollars >= 0.002,
    ],
  ])(
    'twenty at once never exceed a budget of %s by more than one call',
    async (_, budgets, isKept) => {
      await bench.session({ budgets });
      provider.answer(...Array.from({ length: 20 }, yes));
      const replies = await Promise.all(Array.from({ length: 20 }, () => send()));
      await until('all are settled', async () => (await summary()).openRequests === 0);
      const allowed = replies.filter(({ status }) => status === 200);
      expect(provider.requests).toHaveLength(allowed.length);
      expect(isKept(await summary())).toBe(true);
      const refused = replies.filter(({ status }) => status === 403);
      expect(allowed.length + refused.length).toBe(20);
      expect(refused[0]?.body).toMatch(/budget of .* is spent|session is limited/);
      expect((await summary()).state).toBe('limited');
    },
  );

  it('a reply that is broken off before it is seen counts as estimated', async () => {
    await bench.session();
    const leave = new AbortController();
    provider.answer(() => {});
    const call = send({ stream: false, max_tokens: 4_000 }, leave.signal);
    await until('the request', () => provider.requests.length === 1);
    leave.abort();
    await expect(call).rejects.toThrow();
    await until('it is settled', async () => (await summary()).openRequests === 0);
    expect((await summary()).tokens).toBeGreaterThanOrEqual(4_000);
  });

  it('a killed server makes no request free, and settles it once', async () => {
    await bench.session();
    provider.answer(streaming(wire.reply({ text: 'Yes.' }).slice(0, 4), 'open'));
    const broken = send().catch(() => 'broken');
    await until('the request', () => provider.requests.length === 1);
    expect((await bench.events('request'))[0]?.args.reserved.outputTokens).toBe(10);
    await bench.restart();
    expect(await broken).toBe('broken');
    const [used, ...more] = await bench.events('usage');
    expect(more).toEqual([]);
    expect(used?.args).toMatchObject({ estimated: true, outputTokens: 10 });
    expect(await summary()).toMatchObject({ steps: 1, openRequests: 0 });
    await bench.gateway.settleOpen(await summary());
    expect(await bench.events('usage')).toHaveLength(1);
    // The control: the next request is served.
    provider.answer(yes());
    expect((await send()).status).toBe(200);
  });

  it('a stream that waits for the end of a pause is kept alive', async () => {
    await bench.session();
    bench.gateway.waitMs = 1;
    await user('pause');
    const waiting = send();
    await until('a sign of life', () => Buffer.concat(bench.received).includes('event: ping'));
    expect(provider.requests).toEqual([]);
    const events = wire.reply({ text: 'Yes.', usage });
    provider.answer(streaming(events));
    await user('resume');
    const { status, body } = await waiting;
    expect(status).toBe(200);
    expect(body.replaceAll('event: ping\ndata: {"type": "ping"}\n\n', '')).toBe(events.join(''));
    // A client that was told to expect a stream sees an error of the provider as one that breaks off.
    await user('pause');
    const before = bench.receivedBytes;
    const failing = send().catch(() => 'broken');
    await until('a sign of life', () => bench.receivedBytes > before);
    provider.answer(failedResponse(500, {}));
    await user('resume');
    expect(await failing).toBe('broken');
  });

  it('a client that can get no signs of life is told to come back after a while', async () => {
    await bench.session();
    bench.gateway.pauseTimeoutMs = 1;
    await user('pause');
    const response = await bench.post(messagesPath, messagesRequest({ stream: false }));
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('5');
    expect(await response.text()).toContain('The session is paused');
    expect(provider.requests).toEqual([]);
    expect(await bench.events('request')).toEqual([]);
    // The control: a client that is kept alive waits, and is served.
    provider.answer(yes());
    const waiting = send();
    await user('resume');
    expect((await waiting).status).toBe(200);
  });

  it('none begins in a pause or after the end, which breaks off those under way', async () => {
    await bench.session();
    await user('pause');
    provider.answer(yes());
    const waiting = send();
    await user('resume');
    expect((await waiting).status).toBe(200);
    provider.answer(streaming(wire.reply({ text: 'Yes.' }).slice(0, 4), 'open'));
    const before = bench.receivedBytes;
    const underWay = send();
    await until('the request', () => provider.requests.length === 2);
    await until('its first byte', () => bench.receivedBytes > before);
    await user('stop');
    const ended = await underWay;
    expect(ended.body).toContain('event: error');
    expect(ended.body).toContain('The session is stopped');
    expect(await send()).toMatchObject({ status: 403 });
    expect(provider.requests).toHaveLength(2);
  });

  it('more than 120 a minute are told to wait', async () => {
    await bench.session();
    // All of them come within one minute, however slow the machine is.
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    provider.answer(yes());
    expect((await send()).status).toBe(200);
    // Those that are refused count, too.
    const unreadable = Array.from({ length: 119 }, () => bench.post(messagesPath, '{'));
    expect((await Promise.all(unreadable)).every(({ status }) => status === 400)).toBe(true);
    const response = await bench.post(messagesPath, messagesRequest());
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('60');
    expect(provider.requests).toHaveLength(1);
    clock.mockRestore();
  });

  it('calls without tools are no way past the budget of steps', async () => {
    await bench.session({ budgets: { steps: 3 } });
    provider.answer(...Array.from({ length: 20 }, yes));
    await send();
    for (let count = 0; count < 10; count++) await send({ tools: [] });
    expect(await summary()).toMatchObject({ steps: 3, compactions: 2, state: 'limited' });
    expect(provider.requests).toHaveLength(5);
  });
});
