import { once } from 'node:events';
import { hostCalls, hostServerCalls } from '@belay/protocol';
import { memoryConnections } from '@belay/rpc';
import { until } from '@belay/testing';
import type { ContainerSpec, DialIn } from '../container-host.js';
import { RemoteHost } from './remote-host.js';

const never = new AbortController().signal;
const spec = (id: string): ContainerSpec => ({
  id,
  label: id,
  labels: {},
  image: 'sandbox',
  rights: 'hardened',
  limits: { memoryMb: 512, cpus: 1 },
  env: {},
  files: id,
  folders: [],
  keptFiles: [],
  placedFiles: [],
});
const request =
  'GET /agent HTTP/1.1\r\nhost: agent\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\nrest';

describe('the host of a hostile machine', () => {
  let dials: [id: string, dial: DialIn][];
  /** The server’s host, and the machine’s end of the connection. */
  async function joined() {
    const connections = memoryConnections({ server: hostServerCalls, agent: hostCalls });
    const { server, agent: machine } = connections;
    await until('the machine is connected', () => server.connected);
    const host = new RemoteHost('shed', server, { images: true });
    host.onDial((id, dial) => dials.push([id, dial]));
    machine.serve({
      'host.start': async () => ({}),
      'host.remove': async () => ({}),
      'host.look': async () => ({ state: 'ended', why: '\u001b[2Jnothing', cause: null }),
    } as never);
    return { host, machine, connections };
  }
  beforeEach(() => (dials = []));

  it('dials for containers that this server has started, until they are removed, and no other', async () => {
    const { host, machine } = await joined();
    await expect(machine.open('host.dial', { id: 'a' })).rejects.toMatchObject({
      code: 'not_found',
    });
    await host.start(spec('a'), never);
    await expect(machine.open('host.dial', { id: 'b' })).rejects.toMatchObject({
      code: 'not_found',
    });
    const dial = await machine.open('host.dial', { id: 'a' });
    dial.write(request);
    await until('it has dialled', () => dials.length === 1);
    const [[id, { head, request: read }] = ['', {} as DialIn]] = dials;
    expect([id, head.toString(), read.url]).toEqual(['a', 'rest', '/agent']);
    const closed = once(dial.resume(), 'close').catch(() => {});
    await host.remove('a');
    await closed;
    await expect(machine.open('host.dial', { id: 'a' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('cannot flood the list of its containers, or say what it likes in a line', async () => {
    const { host, machine } = await joined();
    const said = ['{"id":"a","state":"running"}\n"synced"\n', `${'x'.repeat(2_000)}`];
    machine.accept('host.watch', async (_, stream) => {
      stream.on('error', () => {});
      for (const text of said) stream.write(text);
    });
    const seen: unknown[] = [];
    const watch = async () => {
      for await (const one of host.watch(never)) seen.push(one);
    };
    await expect(watch()).rejects.toThrow('too long');
    expect(seen).toEqual([{ id: 'a', state: 'running' }, 'synced']);
    said.splice(0, 2, '{"id":"../a","state":"running"}\n');
    await expect(watch()).rejects.toThrow();
    expect((await host.look('a')).why).not.toContain('\u001b');
  });

  it('is away while it is not connected: nothing waits for it', async () => {
    const { host, connections } = await joined();
    connections.break();
    await until('it is noticed', () => !connections.server.connected);
    await expect(host.look('a')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(host.start(spec('a'), never)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
