import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContainerHost } from '@belay/containers';
import { machineCalls, machineServerCalls } from '@belay/protocol';
import { dialRpc } from '@belay/rpc';
import { itLong, staysTrue, until } from '@belay/testing';
import { SessionWorkspaces } from '../../actions/containers/session-workspaces.js';
import { Database } from '../../storage/database.js';
import { Documents } from '../../storage/documents.js';
import { Config } from '../../config.js';
import { ContainerDials } from '../../containers/container-dials.js';
import { AgentListener } from '../connection/agent-listener.js';
import { Sandboxes } from '../lifecycle/sandboxes.js';
import { MachineHosts } from './machine-hosts.js';
import { MachineStore } from './machine.store.js';
import { Machines } from './machines.js';

const description = { host: 'h', os: 'o', arch: 'x64', kind: 'bare' } as const;

describe('the connections of machines', () => {
  let data: string;
  let http: Server;
  let sandboxes: Sandboxes;
  let machines: Machines;
  let database: Database;
  let listener: AgentListener;
  let ended: [sandbox: string, reason: string][];
  const ends: (() => unknown)[] = [];

  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'belay-machines-'));
    const config = new Config({ BELAY_DATA: data, BELAY_MACHINE_LEASE_S: '1' });
    listener = new AgentListener(config);
    sandboxes = new Sandboxes(config, new SessionWorkspaces());
    database = new Database(config);
    const store = new MachineStore(await Documents.load(config, database));
    const none = { onDial: () => {} } as unknown as ContainerHost;
    const hosts = new MachineHosts(config, none, new ContainerDials(none), store);
    machines = new Machines(config, store, listener, sandboxes, hosts);
    // Of this test alone: a lease of the one before may end now.
    const own: typeof ended = [];
    ended = own;
    machines.open({ ended: ({ id }, reason) => own.push([id, reason]) });
    http = createServer();
    http.on('upgrade', (request, socket, head) => listener.upgrade(request, socket, head));
    await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  });
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
    listener.hangUpAll();
    http.closeAllConnections();
    http.close();
    await database.onApplicationShutdown();
    await rm(data, { recursive: true });
  });

  const port = () => (http.address() as AddressInfo).port;
  async function joined(name: string): Promise<{ id: string; credential: string }> {
    const { token } = await machines.invite(name);
    return machines.join(token, description);
  }
  /** As `belay join` connects, and says what runs there. */
  function dialled(token: string, { to = port(), running = [] as string[] } = {}) {
    const machine = dialRpc({
      address: `ws://127.0.0.1:${to}`,
      token,
      serves: machineCalls,
      calls: machineServerCalls,
    });
    ends.push(() => machine.close());
    const hello = machine.call('machine.hello', { description, running });
    hello.catch(() => undefined);
    return { machine, hello };
  }
  async function agentOn(machine: string) {
    const sandbox = sandboxes.add({ session: `on-${machine}`, epoch: 1, machine });
    await sandbox.begin();
    return sandbox;
  }
  /** A network that can swallow everything, and says so to nobody. */
  async function network() {
    const sockets: Socket[] = [];
    const server = createTcpServer((near) => {
      const far = connect(port(), '127.0.0.1');
      sockets.push(near, far);
      for (const socket of [near, far]) socket.on('error', () => undefined);
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    ends.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const swallow = () => sockets.forEach((socket) => socket.unpipe().pause());
    return { port: (server.address() as AddressInfo).port, swallow };
  }

  it('attack: another kind of machine that takes the name of a removed one gets none of its sessions', async () => {
    const chosen = { name: 'box', kind: 'bare' } as const;
    const first = await joined('box');
    await dialled(first.credential).hello;
    expect(machines.ofSession(chosen)).toBe(first.id);
    expect(() => machines.ofSession({ ...chosen, kind: 'container' })).toThrow(/--container/);
    await machines.remove(first.id);
    expect(() => machines.ofSession(chosen)).toThrow(/no machine box/);
    const second = await joined('box');
    await dialled(second.credential).hello;
    expect(machines.ofSession(chosen)).toBe(second.id);
  });

  it('that are away too long end the agents there, also those that are connected themselves', async () => {
    const [away, here] = [await joined('away'), await joined('here')];
    const [lost, kept] = [await agentOn(away.id), await agentOn(here.id)];
    const first = dialled(away.credential, { running: [lost.id] });
    await dialled(here.credential, { running: [kept.id] }).hello;
    await first.hello;
    await first.machine.close();
    await until('its agent has ended', () => ended.length > 0);
    expect(ended).toEqual([[lost.id, 'Its machine was not connected for 1 s.']]);
  });

  it('that never came back after a start of the server end the agents there, too', async () => {
    const { id } = await joined('away');
    const { id: lost } = await agentOn(id);
    const again = ended;
    machines.open({ ended: (sandbox, reason) => again.push([sandbox.id, reason]) });
    await until('its agent has ended', () => ended.length > 0);
    expect(ended).toEqual([[lost, 'Its machine was not connected for 1 s.']]);
  });

  itLong(
    'make way for another process of theirs when they are gone without a word, else not',
    async () => {
      const { id, credential } = await joined('laptop');
      const { port: to, swallow } = await network();
      await dialled(credential, { to }).hello;
      const second = dialled(credential);
      await staysTrue('the second is kept out', 1_000, () => !second.machine.connected);
      swallow();
      await expect(second.hello).resolves.toMatchObject({ name: 'laptop' });
      expect(machines.isConnected(id)).toBe(true);
    },
  );
});
