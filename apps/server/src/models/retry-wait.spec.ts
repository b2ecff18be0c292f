import { newEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { TestGateway } from '../testing/test-gateway.js';
import { ProviderServer, failedResponse, modelList, streaming } from './testing/provider-server.js';
import { chatCompletions } from './testing/provider-wires.js';

describe('a session whose provider is down', () => {
  let server: ProviderServer;
  let test: TestGateway;
  /** When the provider fails. */
  let held: Promise<void>;
  beforeEach(async () => {
    held = Promise.resolve();
    server = await ProviderServer.open();
    test = await TestGateway.open(chatCompletions.environment(server.url));
    await test.session(chatCompletions.model);
    test.gateway.retries = { firstSeconds: 600, longestSeconds: 600, longestAskedSeconds: 7_200 };
    const busy = failedResponse(503, chatCompletions.error('Overloaded'), {
      'retry-after': '3600',
    });
    server.answer(
      (response) => void held.then(() => busy(response)),
      streaming(chatCompletions.reply({ text: 'Back.' })),
    );
  });
  afterEach(async () => {
    await test.close();
    await server.close();
  });
  const summary = () => test.logs.log.summary('s');
  const waiting = () =>
    until('the wait', async () => (await summary()).modelError !== null).then(summary);
  const add = (event: Parameters<typeof newEvent>[1], args: object = {}) =>
    test.logs.log.append('s', [newEvent('user', event, { args: args as never, message: event })]);

  it('says until when it waits, as its provider asked', async () => {
    const abort = new AbortController();
    const before = Date.now();
    const reply = test.generate({}, abort.signal);
    const { state, reason, modelError } = await waiting();
    expect([state, reason]).toEqual([
      'waiting',
      'Waiting for the provider: openai-compatible answered 503: Overloaded. Next try in 3600 s.',
    ]);
    const seconds = (Date.parse(modelError?.retryAt ?? '') - before) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(3_599);
    expect(seconds).toBeLessThan(3_660);
    abort.abort();
    await expect(reply).rejects.toMatchObject({ code: 'cancelled' });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a message', () => add('message', { text: 'Go on' })],
    ['resume', () => add('resume')],
    ['another model', () => add('change', { model: `${chatCompletions.model}?context=1000` })],
    [
      'a changed key',
      () => {
        server.models = modelList();
        return test.gateway.setProvider('openai-compatible', { key: 'key-2' });
      },
    ],
  ])('tries again at once after %s', async (_, act) => {
    const reply = test.generate();
    await waiting();
    await act();
    expect((await reply).text).toBe('Back.');
    expect(await summary()).toMatchObject({ state: 'running', reason: null, modelError: null });
  });

  it('stops waiting in a pause', async () => {
    const reply = test.generate();
    await waiting();
    await add('pause');
    await expect(reply).rejects.toMatchObject({ code: 'cancelled' });
    expect(server.requests).toHaveLength(1);
    expect(await summary()).toMatchObject({ state: 'paused' });
  });

  it('does not begin to wait after a pause during the call', async () => {
    const failing = Promise.withResolvers<void>();
    held = failing.promise;
    const reply = test.generate();
    await until('the call', () => server.requests.length === 1);
    await add('pause');
    failing.resolve();
    await expect(reply).rejects.toMatchObject({ code: 'cancelled' });
    expect(await test.events('retry')).toEqual([]);
    expect(server.requests).toHaveLength(1);
    expect(await summary()).toMatchObject({ state: 'paused' });
  });

  it('stays paused when the setup of its provider changes, until its user resumes it', async () => {
    const reply = test.generate();
    await waiting();
    await add('pause');
    await expect(reply).rejects.toMatchObject({ code: 'cancelled' });
    server.models = modelList();
    await test.gateway.setProvider('openai-compatible', { key: 'key-2' });
    expect(await summary()).toMatchObject({ state: 'paused', modelError: expect.anything() });
    expect(await test.events('resume')).toEqual([]);
    await add('resume');
    expect((await test.generate()).text).toBe('Back.');
    expect(await summary()).toMatchObject({ state: 'running', modelError: null });
  });

  it('waits no longer than its time budget', async () => {
    await add('change', { budgets: { steps: null, tokens: null, dollars: null, seconds: 1 } });
    await expect(test.generate()).rejects.toMatchObject({ code: 'limit_reached' });
    expect(await summary()).toMatchObject({ state: 'limited', modelError: null });
  });
});
