import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { agentCalls, serverCalls } from '@belay/protocol';
import { agentPath, dialRpc, type RpcConnection } from '@belay/rpc';
import { until } from '@belay/testing';
import { SandboxServer } from '../../testing/sandbox-server.js';

const dialled: RpcConnection<typeof agentCalls, typeof serverCalls>[] = [];
afterEach(async () => {
  await Promise.all(dialled.splice(0).map((one) => one.close()));
});

/** Another program of the sandbox, which dials as the agent does. */
function program(socket: string) {
  const dial = dialRpc({ address: `unix:${socket}`, serves: agentCalls, calls: serverCalls });
  dialled.push(dial);
  return dial;
}
/** The status that a dial is answered with; a program that is not the agent would be told so, by 403. */
async function answerTo(socketPath: string): Promise<number | undefined> {
  const headers = { connection: 'Upgrade', upgrade: 'websocket', 'x-belay-agent': 'x'.repeat(32) };
  const dial = request({ socketPath, path: agentPath, headers }).end();
  const [response] = (await once(dial, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}
const hello = { version: '1', session: null, epoch: 0, lastSeq: 0 };

describe('attacks: a false agent', () => {
  let server: SandboxServer;
  beforeEach(async () => {
    server = await new SandboxServer().open();
  });
  afterEach(() => server.close());

  const socketOf = () =>
    `${server.engine.only().spec.HostConfig?.Mounts?.find(({ Target }) => Target === '/run/belay')?.Source}/agent.sock`;
  const refused = { code: 'forbidden', message: 'Only the agent of this sandbox may connect.' };
  const stillWorks = async () => {
    const link = await until('the agent', () => server.service.agent('one'));
    expect(await link.call('operation.call', { id: '1', operation: 'x', input: {} })).toEqual({
      output: null,
    });
  };

  it('26: is refused beside the agent, whatever it asks first', async () => {
    await server.startSession('one');
    const other = program(socketOf());
    const bytes = Buffer.from('12');
    await expect(other.call('blobs.put', { type: 'text/plain', bytes })).rejects.toMatchObject(
      refused,
    );
    await expect(program(socketOf()).call('hello', hello)).rejects.toMatchObject(refused);
    await stillWorks();
  });

  it('26: is refused by a server that was started again, also before the agent is back', async () => {
    await server.startSession('one');
    const socket = socketOf();
    await server.stop();
    const early = [program(socket), program(socket)];
    const calls = early.map((one) => one.call('hello', { ...hello, session: 'one', epoch: 1 }));
    for (const call of calls) call.catch(() => {});
    await server.start();
    for (const call of calls) await expect(call).rejects.toMatchObject(refused);
    await until('the agent is back', () => server.service.state('one') === 'connected');
    await stillWorks();
  });

  it('26: is refused where its sandbox waits for a session', async () => {
    await server.stop();
    await server.start({ BELAY_POOL: '1' });
    await until('one waits', () => server.service.counts.warm === 1);
    await expect(program(socketOf()).call('hello', hello)).rejects.toMatchObject(refused);
    await server.startSession('one');
    await stillWorks();
  });

  it('is refused in a container that ended for the session and cannot be removed', async () => {
    await server.startSession('one');
    const [socket, container] = [socketOf(), server.engine.only()];
    const left = server.agents.get('one');
    // It goes on, as on a node that the engine has given up.
    container.stop = () => {};
    server.engine.fail('remove');
    server.engine.kill(container);
    await until('the report', () => server.lost.length === 1);
    await until('its connection ends', () => left?.connected === false);
    expect(await answerTo(socket)).toBe(503);
    const said = left?.call('hello', { ...hello, session: 'one', epoch: 1 });
    const outcome = said?.then(
      () => 'said',
      () => 'refused',
    );
    await server.startSession('one');
    await stillWorks();
    expect(await answerTo(socket)).toBe(503);
    await left?.close();
    expect(await outcome).toBe('refused');
  });

  it('is no matter to the next container of the session, whose agent is a new one', async () => {
    await server.startSession('one', 5);
    const first = await server.records.find('one');
    await server.service.stop('one');
    await server.startSession('one', 5);
    const second = await server.records.find('one');
    expect(first?.agent).toMatch(/^[0-9a-f]{64}$/);
    expect(second?.agent).not.toBe(first?.agent);
    await stillWorks();
  });
});
