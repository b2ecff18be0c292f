import { once } from 'node:events';
import { agentCalls, serverCalls } from '@belay/protocol';
import { memoryConnections, type RpcStream } from '@belay/rpc';
import { until } from '@belay/testing';
import { StepCopies } from '../../logs/step-copies.js';
import { HostileAgent } from '../../testing/hostile-agent.js';
import { TestServer } from '../../testing/server.js';
import { Sandbox } from '../lifecycle/sandbox.js';
import { AgentCalls } from './agent-calls.js';

const commit = 'a'.repeat(40);
const part = (n: number, after: number) => ({ kind: 'steps', n, after, commit }) as const;

describe('attacks: copies of steps', () => {
  const server = new TestServer();
  let copies: StepCopies;
  let agent: HostileAgent;
  beforeAll(async () => {
    await server.start({ BELAY_COPY_MB: '1' });
    copies = server.app.get(StepCopies);
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    agent = await HostileAgent.connect(server, await server.session());
  });
  afterEach(() => agent.close());

  const open = (n: number, after: number) => agent.connection.open('copies.store', part(n, after));
  /** Resolves once the server has stored it. */
  const send = async (stream: RpcStream, bytes: number): Promise<void> => {
    const stored = once(stream.resume(), 'end');
    stream.on('error', () => undefined).end(Buffer.alloc(bytes));
    await stored;
  };
  /** Refused when it is opened, or later. */
  const attempt = async (n: number, after: number, bytes = 10): Promise<void> =>
    send(await open(n, after), bytes);
  const numbers = async (session = agent.session) => (await copies.list(session)).map(({ n }) => n);

  it('are taken from the session’s agent alone, for its own session', async () => {
    const other = await server.session();
    await attempt(1, 0);
    expect(await numbers()).toEqual([1]);
    expect(await numbers(other)).toEqual([]);
    // Another program of the sandbox that connects to its socket.
    const { server: serving, agent: program } = memoryConnections({
      server: serverCalls,
      agent: agentCalls,
    });
    const sandbox = new Sandbox({ session: agent.session, epoch: 1 });
    sandbox.adopt();
    sandbox.connect({ connected: true } as never);
    server.app.get(AgentCalls).serve(serving, sandbox);
    const stored = program.call('copies.stored', {});
    stored.catch(() => undefined);
    const opened = program.open('copies.store', part(2, 1));
    opened.catch(() => undefined);
    await program
      .call('hello', { version: '1', session: null, epoch: 0, lastSeq: 0 })
      .catch(() => 0);
    await program.close();
    await expect(stored).rejects.toBeDefined();
    await expect(opened).rejects.toBeDefined();
    expect(await numbers()).toEqual([1]);
  });

  it('with numbers that are made up are refused, and the right one is not', async () => {
    await attempt(1, 0);
    for (const [n, after] of [
      [1, 0],
      [3, 1],
      [2, 2],
      [9_007_199_254_740_991, 0],
    ] as const)
      await expect(attempt(n, after)).rejects.toMatchObject({ code: 'conflict' });
    for (const wrong of [{ n: -1 }, { n: 1.5 }, { commit: '../x' }, { kind: '..' }])
      await expect(
        agent.connection.open('copies.store', { ...part(2, 1), ...wrong } as never),
      ).rejects.toMatchObject({ code: 'invalid_input' });
    await attempt(2, 1);
    expect(await numbers()).toEqual([1, 2]);
  });

  it('that flood end at the limit, and one is read at a time', async () => {
    await attempt(1, 0);
    await expect(attempt(2, 1, 2 ** 21)).rejects.toMatchObject({ code: 'limit_reached' });
    const slow = await open(2, 1);
    slow.write('begun');
    await until('it is being stored', async () => {
      const another = attempt(2, 1);
      return another.then(
        () => false,
        (error: { code: string }) => error.code === 'conflict',
      );
    });
    const floods = Array.from({ length: 50 }, () => attempt(2, 1, 1_000_000));
    const refusals = await Promise.allSettled(floods);
    for (const refusal of refusals)
      expect(refusal).toMatchObject({ status: 'rejected', reason: { code: 'conflict' } });
    await send(slow, 10);
    expect(await numbers()).toEqual([1, 2]);
  });

  it('of a connection that breaks in the middle are not kept, and the session can be deleted', async () => {
    const half = await open(1, 0);
    half.on('error', () => undefined).write(Buffer.alloc(1_000));
    await agent.close();
    await until(
      'nothing is being stored',
      async () => (await copies.stored(agent.session)).next === 1,
    );
    expect(await numbers()).toEqual([]);
    await server.json('DELETE', `/api/sessions/${agent.session}`);
  });
});
