import { AppError } from '@belay/protocol';
import { setImmediate as turn } from 'node:timers/promises';
import { z } from 'zod';
import { memoryConnections } from './memory-connections.js';
import type { RpcStream } from './connection.js';

const procedure = <I extends z.ZodType, O extends z.ZodType>(input: I, output: O) => ({
  input,
  output,
});
const contracts = {
  server: {
    add: procedure(z.object({ a: z.int(), b: z.int().default(1) }), z.object({ sum: z.int() })),
    store: procedure(
      z.object({ bytes: z.instanceof(Uint8Array), list: z.array(z.instanceof(Uint8Array)) }),
      z.object({ bytes: z.instanceof(Uint8Array) }),
    ),
    wait: procedure(z.object({}), z.object({})),
  },
  agent: { ping: procedure(z.object({ n: z.int() }), z.object({ n: z.int() })) },
};
const connections = () => memoryConnections(contracts);
const unused = { store: () => Promise.reject(new Error('unused')), wait: async () => ({}) };

describe('calls', () => {
  it('go both ways, with defaults and bytes', async () => {
    const { server, agent } = connections();
    server.serve({
      add: async ({ a, b }) => ({ sum: a + b }),
      store: async ({ bytes, list }) => ({ bytes: Buffer.concat([bytes, ...list]) }),
      wait: async () => ({}),
    });
    agent.serve({ ping: async ({ n }) => ({ n: n + 1 }) });
    expect(await agent.call('add', { a: 2 })).toEqual({ sum: 3 });
    expect(await server.call('ping', { n: 1 })).toEqual({ n: 2 });
    const stored = await agent.call('store', {
      bytes: Buffer.from([0, 255]),
      list: [new Uint8Array([1]), new Uint8Array([2])],
    });
    expect([...stored.bytes]).toEqual([0, 255, 1, 2]);
  });

  it('reject with the error of the peer', async () => {
    const { server, agent } = connections();
    server.serve({
      ...unused,
      add: () => Promise.reject(new AppError('limit_reached', 'Enough.', { budget: 'steps' })),
    });
    await expect(agent.call('add', { a: 1 })).rejects.toMatchObject({
      code: 'limit_reached',
      message: 'Enough.',
      details: { budget: 'steps' },
    });
    await expect(agent.call('add', { a: 1.5 })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(server.call('ping', { n: 1 })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('reject an output that does not match the contract', async () => {
    const { server, agent } = connections();
    server.serve({ ...unused, add: async () => ({ sum: 'three' }) as never });
    await expect(agent.call('add', { a: 1 })).rejects.toMatchObject({ code: 'internal' });
  });

  it('are cancelled on the peer, too', async () => {
    const { server, agent } = connections();
    const started = Promise.withResolvers<AbortSignal>();
    server.serve({
      ...unused,
      add: async () => ({ sum: 0 }),
      wait: (_input, { signal }) => {
        started.resolve(signal);
        return new Promise(() => {});
      },
    });
    const abort = new AbortController();
    const call = agent.call('wait', {}, { signal: abort.signal });
    const signal = await started.promise;
    const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve));
    abort.abort();
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    await stopped;
    await expect(agent.call('wait', {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'cancelled',
    });
  });

  it('wait through a break and run once', async () => {
    const both = connections();
    let runs = 0;
    const release = Promise.withResolvers<void>();
    both.server.serve({
      ...unused,
      add: async ({ a, b }) => {
        runs++;
        await release.promise;
        return { sum: a + b };
      },
    });
    const call = both.agent.call('add', { a: 1 });
    while (runs === 0) await turn();
    both.break();
    release.resolve();
    for (let i = 0; i < 5; i++) await turn();
    both.reconnect();
    expect(await call).toEqual({ sum: 2 });
    expect(runs).toBe(1);
  });

  it('fail when the connection is closed', async () => {
    const { server, agent } = connections();
    server.serve({ ...unused, add: async () => ({ sum: 0 }), wait: () => new Promise(() => {}) });
    await agent.call('add', { a: 1 });
    const call = agent.call('wait', {});
    const closed = new Promise<void>((resolve) => server.on('closed', resolve));
    const [refused] = await Promise.allSettled([call, agent.close()]);
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    await closed;
    await expect(agent.call('wait', {})).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('keep nobody waiting who closes a connection that ends meanwhile', async () => {
    const both = connections();
    both.server.serve({ ...unused, add: async () => ({ sum: 0 }) });
    await both.agent.call('add', { a: 1 });
    // This call will not be acknowledged any more.
    const call = both.agent.call('add', { a: 2 });
    let isOver = false;
    const closed = both.agent.close().then(() => (isOver = true));
    both.break();
    const [refused] = await Promise.allSettled([call, both.agent.close()]);
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    await turn();
    expect(isOver).toBe(true);
    await closed;
  });

  it('that are too large are refused, and the connection stays usable', async () => {
    const { server, agent } = connections();
    server.serve({ ...unused, add: async ({ a, b }) => ({ sum: a + b }) });
    const huge = { bytes: Buffer.alloc(81 * 2 ** 20), list: [] };
    await expect(agent.call('store', huge)).rejects.toMatchObject({ code: 'too_large' });
    expect(await agent.call('add', { a: 1 })).toEqual({ sum: 2 });
  });
});

describe('a restarted server', () => {
  it('is sent the pending calls, and streams fail so that they can be opened again', async () => {
    const both = connections();
    both.server.serve({ ...unused, add: () => new Promise(() => {}) });
    both.server.accept('terminal', async () => {});
    const aborted = Promise.withResolvers<void>();
    both.agent.serve({
      ping: (_input, { signal }) => {
        signal.addEventListener('abort', () => aborted.resolve());
        return new Promise(() => {});
      },
    });
    const stream = await both.agent.open('terminal', { terminal: 'main', offset: 0 });
    const broken = new Promise<unknown>((resolve) => stream.on('error', resolve));
    const call = both.agent.call('add', { a: 5 });
    both.server.call('ping', { n: 1 }).catch(() => {});
    await turn();
    const restarted = both.restartServer();
    restarted.serve({ ...unused, add: async ({ a }) => ({ sum: a }) });
    both.reconnect();
    expect(await call).toEqual({ sum: 5 });
    expect(await broken).toMatchObject({ code: 'unavailable' });
    await aborted.promise;
    restarted.accept('terminal', async () => {});
    const again: RpcStream = await both.agent.open('terminal', { terminal: 'main', offset: 0 });
    again.destroy();
  });
});
