import { ignoreError, newEvent } from '@belay/protocol';
import { until } from '@belay/testing';
import { TestGateway } from '../testing/test-gateway.js';
import { ProviderServer, streaming } from './testing/provider-server.js';
import { chatCompletions } from './testing/provider-wires.js';

describe('attacks: model calls past budgets, pauses and ends', () => {
  let server: ProviderServer;
  let test: TestGateway;
  beforeEach(async () => {
    server = await ProviderServer.open();
    test = await TestGateway.open(chatCompletions.environment(server.url));
  });
  afterEach(async () => {
    await test.close();
    await server.close();
  });
  const yes = () => streaming(chatCompletions.reply({ text: 'Yes.' }));
  const steps = async () => (await test.logs.log.summary('s')).steps;
  const user = (action: 'pause' | 'resume' | 'stop') =>
    test.logs.log.append('s', [newEvent('user', action, { args: {}, message: action })]);

  it('14: sixty calls at once make no more than the budget of three', async () => {
    await test.session(chatCompletions.model, { budgets: { steps: 3 } });
    server.answer(...Array.from({ length: 60 }, yes));
    const calls = Array.from({ length: 60 }, () => test.generate());
    await Promise.allSettled(calls);
    // The control: the calls that the budget allows are made, one after the other.
    await Promise.allSettled([test.generate()]);
    expect(server.requests).toHaveLength(3);
    expect(await steps()).toBe(3);
    expect((await test.logs.log.summary('s')).state).toBe('limited');
  });

  it('14: calls for a summary are not steps, and yet no way past the budget', async () => {
    await test.session(chatCompletions.model, { budgets: { steps: 3 } });
    server.answer(...Array.from({ length: 20 }, yes));
    await test.generate();
    await test.generate({ purpose: 'compact' });
    // The control: an honest summary costs no step.
    expect(await test.logs.log.summary('s')).toMatchObject({ steps: 1, compactions: 1 });
    for (let count = 0; count < 15; count++) {
      await test.generate({ purpose: 'compact' }).catch(ignoreError('the budget ends them'));
    }
    expect(await test.logs.log.summary('s')).toMatchObject({ steps: 3, compactions: 2 });
    expect(server.requests).toHaveLength(5);
  });

  it('14: an empty reply uses the budget, too', async () => {
    await test.session(chatCompletions.model, { budgets: { steps: 1 } });
    server.answer(streaming(chatCompletions.reply({ text: '' })), yes());
    await test.generate();
    await expect(test.generate()).rejects.toMatchObject({ code: 'limit_reached' });
    expect(server.requests).toHaveLength(1);
  });

  it('14: calls that are broken off count', async () => {
    await test.session(chatCompletions.model, { budgets: { steps: 3 } });
    for (let count = 1; count <= 3; count += 1) {
      const cancel = new AbortController();
      server.answer(streaming([], 'open'));
      const call = test.generate({}, cancel.signal);
      await until('the request', () => server.requests.length === count);
      cancel.abort();
      await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    }
    await expect(test.generate()).rejects.toMatchObject({ code: 'limit_reached' });
    expect(server.requests).toHaveLength(3);
  });

  it('15: no call begins in a pause or after the end, and the end aborts the one under way', async () => {
    await test.session(chatCompletions.model);
    await user('pause');
    await expect(test.generate()).rejects.toMatchObject({
      code: 'cancelled',
      message: expect.stringContaining('is paused') as string,
    });
    await user('resume');
    server.answer(yes());
    expect((await test.generate()).text).toBe('Yes.');
    server.answer(streaming([], 'open'));
    const underWay = test.generate();
    await until('the request', () => server.requests.length === 2);
    await user('stop');
    await expect(underWay).rejects.toMatchObject({ code: 'cancelled' });
    await expect(test.generate()).rejects.toMatchObject({
      code: 'cancelled',
      message: expect.stringContaining('is stopped') as string,
    });
    expect(server.requests).toHaveLength(2);
  });
});
