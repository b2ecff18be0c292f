import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DockerHost, labels, ServedHost, type DockerClient } from '@belay/containers';
import { hostCalls, machineServerCalls, type SessionMachine } from '@belay/protocol';
import { dialRpc, type RpcConnection } from '@belay/rpc';
import { until } from '@belay/testing';
import { FakeEngine } from './fake-engine.js';
import type { SandboxServer } from './sandbox-server.js';

type Connection = RpcConnection<typeof hostCalls, typeof machineServerCalls>;

/** The port of a server for agents and machines; it stays when the server is restarted. */
export class ServerPort {
  readonly #http: Server = createServer();

  async open(server: SandboxServer): Promise<this> {
    this.#http.on('upgrade', (request, socket, head) =>
      server.listener.upgrade(request, socket, head),
    );
    await new Promise<void>((done) => this.#http.listen(0, '127.0.0.1', done));
    return this;
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  /** Resolves when the next connection is asked for, whether it is admitted or not. */
  async asked(): Promise<void> {
    await once(this.#http, 'upgrade');
  }

  close(): void {
    this.#http.closeAllConnections();
    this.#http.close();
  }
}

/** What the machine’s user allows besides its own image. */
const allowedImages = ['node:*'];

/** A joined machine with an engine in memory, as `belay join --container` serves it. */
export class MachineWithContainers {
  readonly engine = new FakeEngine();
  readonly chosen: SessionMachine;
  id!: string;
  credential!: string;
  connection!: Connection;
  /** What leads to the server, so that it can be cut. */
  readonly #sockets = new Set<Socket>();
  #front = createTcpServer();
  #folder!: string;
  #served!: ServedHost;

  constructor(
    private readonly server: SandboxServer,
    private readonly agents: ServerPort,
    name = 'box',
  ) {
    this.chosen = { name, kind: 'container' };
    server.runAgentsIn(this.engine);
  }

  async join(): Promise<this> {
    const { name, kind } = this.chosen;
    const { token } = await this.server.machines.invite(name);
    const description = { host: 'h', os: 'o', arch: 'x64', kind };
    Object.assign(this, await this.server.machines.join(token, description));
    this.#folder = await mkdtemp(join(tmpdir(), 'box-'));
    await this.#openFront();
    await this.start();
    return this;
  }

  /** As another process of `belay join`. */
  async start(): Promise<void> {
    const { engine, credential } = this;
    const url = new URL(`http://127.0.0.1:${(this.#front.address() as AddressInfo).port}`);
    const image = 'belay/sandbox:1';
    const limits = { memoryMb: 512, cpus: 1 };
    this.#served = await ServedHost.open({
      host: new DockerHost(engine as unknown as DockerClient, {
        image,
        runtime: 'runtime',
        labels: { [labels.instance]: 'box' },
        sockets: { folder: this.#folder, name: 'box' },
        browser: { image, limits },
        memorySetting: '--memory',
      }),
      prefix: 'box-',
      image,
      allowedImages,
      limits,
      server: { url, token: credential },
      named: () => {},
      ended: () => {},
    });
    const connection = dialRpc({
      address: url.origin.replace(/^http/, 'ws'),
      token: credential,
      serves: hostCalls,
      calls: machineServerCalls,
    });
    this.#served.serve(connection);
    this.connection = connection;
    const description = { host: 'h', os: 'o', arch: 'x64', kind: 'container' as const };
    const capacity = { sandboxes: 4, memoryMb: 8_192, cpus: 4, images: [...allowedImages] };
    await connection.call('machine.hello', { description, running: [], capacity });
  }

  /** As when `belay join` is killed. */
  async kill(): Promise<void> {
    await this.connection.close();
    await this.#served.close();
  }

  /** Breaks all connections to the server; they can be made again. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    for (const container of this.engine.containers.values()) container.stop();
    await this.kill();
    this.cut();
    this.#front.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Its containers that run. */
  get running(): string[] {
    return [...this.engine.containers.values()]
      .filter(({ state }) => state === 'running')
      .map(({ name }) => name);
  }

  async isEmpty(): Promise<void> {
    await until(
      'nothing is left on the machine',
      () => this.engine.containers.size === 0 && this.engine.volumeNames.size === 0,
      { state: () => JSON.stringify([this.running, [...this.engine.volumeNames]]) },
    );
  }

  async #openFront(): Promise<void> {
    this.#front = createTcpServer((near) => {
      const far = connect(this.agents.port, '127.0.0.1');
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => socket.destroy());
        socket.once('close', () => this.#sockets.delete(socket));
      }
      near.once('close', () => far.destroy());
      far.once('close', () => near.destroy());
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((done) => this.#front.listen(0, '127.0.0.1', done));
  }
}
