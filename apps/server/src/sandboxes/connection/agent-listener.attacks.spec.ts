import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makePrivateFolder } from '@belay/host';
import { agentCalls, serverCalls } from '@belay/protocol';
import { dialRpc, type RpcConnection } from '@belay/rpc';
import { until } from '@belay/testing';
import { Config } from '../../config.js';
import { SandboxServer } from '../../testing/sandbox-server.js';
import { AgentListener } from './agent-listener.js';

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

describe('attacks: links in the folder of the socket', () => {
  let folder: string;
  let listener: AgentListener;
  const open = () =>
    listener.open('one', { admits: () => true, onConnection: () => {}, onBroken: () => {} });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-'));
    listener = new AgentListener(new Config({ BELAY_DATA: folder, XDG_RUNTIME_DIR: folder }));
  });
  afterEach(async () => {
    await listener.hangUpAll();
    await rm(folder, { recursive: true });
  });

  it('40: neither the socket nor the hosts file is made through one, and its target keeps its mode', async () => {
    const secret = join(folder, 'secret');
    await writeFile(secret, 'key', { mode: 0o600 });
    await open();
    await listener.hangUpAll();
    // As a sandbox of an older version could, whose mount was writable.
    const own = listener.folder('one');
    for (const name of ['agent.sock', 'hosts']) {
      await rm(join(own, name), { force: true });
      await symlink(secret, join(own, name));
    }
    await open();
    await listener.putFile('one', 'hosts', '127.0.0.1 localhost\n');
    expect((await stat(secret)).mode & 0o777).toBe(0o600);
    expect(await readFile(secret, 'utf8')).toBe('key');
    expect((await lstat(join(own, 'agent.sock'))).isSocket()).toBe(true);
    expect((await lstat(join(own, 'hosts'))).isFile()).toBe(true);
    expect((await stat(join(own, 'agent.sock'))).mode & 0o777).toBe(0o666);
    expect((await stat(join(own, 'hosts'))).mode & 0o777).toBe(0o644);
  });

  it('40: the folder itself is not a link', async () => {
    await open();
    await listener.hangUpAll();
    const target = join(folder, 'target');
    await mkdir(target, { mode: 0o700 });
    await rm(listener.folder('one'), { recursive: true });
    await symlink(target, listener.folder('one'));
    await expect(open()).rejects.toThrow('belongs to another user or is a link');
    expect((await stat(target)).mode & 0o777).toBe(0o700);
    expect(await readdir(target)).toEqual([]);
    await rm(listener.folder('one'));
    await open();
  });

  it('37: a link in a shared folder is refused, and a folder of this user is made its own', async () => {
    const [link, open, target] = ['link', 'open', 'target'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await mkdir(target);
    await chmod(target, 0o755);
    await symlink(target, link);
    await expect(makePrivateFolder(link)).rejects.toMatchObject({ code: 'unavailable' });
    expect((await stat(target)).mode & 0o777).toBe(0o755);
    await mkdir(open);
    await chmod(open, 0o777);
    await makePrivateFolder(open);
    expect((await stat(open)).mode & 0o777).toBe(0o700);
  });

  (process.getuid?.() === 0 ? it : it.skip)('37: a folder of another user is refused', async () => {
    const path = join(folder, 'theirs');
    await mkdir(path);
    await chmod(path, 0o777);
    const { chown } = await import('node:fs/promises');
    await chown(path, 12_345, 12_345);
    await expect(makePrivateFolder(path)).rejects.toMatchObject({ code: 'unavailable' });
    expect((await stat(path)).mode & 0o777).toBe(0o777);
  });
});
