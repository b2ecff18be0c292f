import { mkdtempSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { labels, RemoteHost, ServedHost, type HostConnection } from '@belay/containers';
import { hostCalls, machineCalls, machineServerCalls } from '@belay/protocol';
import { containerHeader, dialRpc, rpcServer } from '@belay/rpc';
import { prepared, removeSandboxes } from '@belay/testkit';
import { until } from '@belay/testing';
import { describeHost } from './describe-host.js';
import { dockerHostFor } from './docker-host-for.js';

const data = mkdtempSync(join(tmpdir(), 'remote-'));
const image = () => prepared('BELAY_TEST_IMAGE');
/** Stands for the default image of the machine. */
const defaultImage = 'belay/the-default:1';

/** The containers of a machine as its server sees them, over a connection on loopback. */
class MachineOnLoopback extends RemoteHost {
  readonly #ends: (() => unknown)[] = [];

  static async open(instance: string): Promise<MachineOnLoopback> {
    const remote = new MachineOnLoopback({ name: 'The machine', image: defaultImage });
    await remote.#join(instance);
    return remote;
  }

  override async close(): Promise<void> {
    await super.close();
    for (const end of this.#ends.toReversed()) await end();
  }

  async #join(instance: string): Promise<void> {
    const own = createServer();
    let joined: HostConnection | undefined;
    const machines = rpcServer({
      server: own,
      serves: machineServerCalls,
      calls: machineCalls,
      onConnection: (connection) => {
        connection.serve({
          ...this.handlers,
          'machine.hello': async () => ({ name: 'machine', end: [] }),
          'agents.ended': async () => ({}),
        });
        this.connect(connection);
        joined = connection;
      },
    });
    const server = createServer();
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const container = request.headers[containerHeader]?.toString();
      if (container === undefined) own.emit('upgrade', request, socket, head);
      else this.dialled(container, { request, socket, head });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const token = 'the-token-of-this-machine';
    const host = dockerHostFor(instance, { folder: data, labels: { [labels.data]: data } });
    const served = await ServedHost.open({
      host,
      prefix: `${instance}-`,
      image: image(),
      allowedImages: [prepared('BELAY_TEST_DEBIAN'), 'belay/there-is-*'],
      limits: { memoryMb: 256, cpus: 1 },
      server: { url, token },
      named: () => {},
      ended: () => {},
    });
    const connection = dialRpc({
      address: url.origin.replace(/^http/, 'ws'),
      token,
      serves: hostCalls,
      calls: machineServerCalls,
    });
    served.serve(connection);
    // As when `belay join` is killed: its containers go on.
    this.#ends.push(
      () => server.close(),
      () => server.closeAllConnections(),
      () => machines.close(),
      () => served.close(),
      () => connection.close(),
    );
    await until('the machine is connected', () => connection.connected && joined?.connected);
  }
}

describeHost('a joined machine as a host of containers', () => ({
  images: { default: defaultImage, other: prepared('BELAY_TEST_DEBIAN') },
  open: (instance) => MachineOnLoopback.open(instance),
  dispose: () => removeSandboxes(data),
}));
