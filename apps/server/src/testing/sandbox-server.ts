import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type DockerClient } from '@belay/containers';
import { agentCalls, AppError, serverCalls, type StartPayload } from '@belay/protocol';
import { dialRpc, type RpcConnection } from '@belay/rpc';
import { until } from '@belay/testing';
import { SessionWorkspaces } from '../actions/containers/session-workspaces.js';
import { AgentStore } from '../agents/agent.store.js';
import { ImageLibraries } from '../agents/image-libraries.js';
import { InstallableAgents } from '../agents/installable-agents.js';
import { SessionAgents } from '../agents/session-agents.js';
import { SignInStore } from '../agents/sign-in.store.js';
import { Config } from '../config.js';
import { ContainerDials } from '../containers/container-dials.js';
import { dockerHostOf } from '../containers/docker-host-of.js';
import { HostFolders } from '../sandboxes/host-folders.js';
import { BlobStore } from '../logs/blob-store.js';
import { SessionsStore } from '../logs/sessions.store.js';
import { StepCopies } from '../logs/step-copies.js';
import { TransientNotices } from '../logs/transient-notices.js';
import { TerminalFiles } from '../logs/terminal-files.js';
import { TerminalLog } from '../logs/terminal-log.js';
import { FolderObjects } from '../storage/folder-objects.js';
import { Documents } from '../storage/documents.js';
import { lease } from '../storage/lease.js';
import { LiveServers } from '../storage/live-servers.js';
import { TestLogs } from './logs.js';
import { AgentCalls } from '../sandboxes/connection/agent-calls.js';
import { ConnectionLog } from '../sandboxes/connection/connection-log.js';
import { AgentListener } from '../sandboxes/connection/agent-listener.js';
import { SandboxConnections } from '../sandboxes/connection/sandbox-connections.js';
import { ApprovedServices } from '../sandboxes/connection/approved-services.js';
import { ModelCalls } from '../sandboxes/connection/model-calls.js';
import { RestoredCopies } from '../sandboxes/connection/restored-copies.js';
import { StorageCalls } from '../sandboxes/connection/storage-calls.js';
import { AbsenceWatch } from '../sandboxes/lifecycle/absence-watch.js';
import { DeathWatch } from '../sandboxes/lifecycle/death-watch.js';
import { Reconciler } from '../sandboxes/lifecycle/reconciler.js';
import { SandboxContainers } from '../sandboxes/lifecycle/sandbox-containers.js';
import { SandboxFiles } from '../sandboxes/lifecycle/sandbox-files.js';
import { SandboxOwners } from '../sandboxes/lifecycle/sandbox-owners.js';
import { SandboxRecords } from '../sandboxes/lifecycle/sandbox-records.store.js';
import { Sandboxes } from '../sandboxes/lifecycle/sandboxes.js';
import { ServerLifecycle } from '../sandboxes/lifecycle/server-lifecycle.js';
import { WarmPool } from '../sandboxes/lifecycle/warm-pool.js';
import { Places } from '../sandboxes/places/places.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { MachineAgents } from '../sandboxes/machines/machine-agents.js';
import { MachineHosts } from '../sandboxes/machines/machine-hosts.js';
import { MachineStore } from '../sandboxes/machines/machine.store.js';
import { Machines } from '../sandboxes/machines/machines.js';
import { FakeEngine, type FakeContainer } from './fake-engine.js';

type Agent = RpcConnection<typeof agentCalls, typeof serverCalls>;

/** How agents in fake containers behave; tests replace what is to fail. */
export interface AgentBehaviour {
  /** If false, the agent never connects. */
  connects: boolean;
  begin(payload: StartPayload): Promise<void>;
  unpack(bytes: number): Promise<void>;
  /** Unpacks a part of a copy. */
  restore(kind: string, bytes: Buffer): Promise<void>;
  checkOut(): Promise<{ commit: string; without: string[] }>;
  /** Sends the copies that are due. */
  flush(): Promise<void>;
  /** Whether the agent exits when asked to shut down. */
  exits: boolean;
}

/**
 * The sandboxes of a server with an engine in memory: real sockets, records and logs; agents only
 * respond.
 */
export class SandboxServer {
  readonly engine = new FakeEngine();
  readonly logs = new TestLogs();
  readonly begun: StartPayload[] = [];
  /** The agents that have begun, by their sessions. */
  readonly agents = new Map<string, Agent>();
  readonly unpacked: number[] = [];
  readonly lost: [session: string, reason: string][] = [];
  agent: AgentBehaviour = {
    connects: true,
    begin: () => Promise.resolve(),
    unpack: () => Promise.resolve(),
    restore: () => Promise.resolve(),
    flush: () => Promise.resolve(),
    checkOut: () => Promise.reject(new AppError('conflict', 'No part has arrived.')),
    exits: true,
  };
  service!: SandboxService;
  sandboxes!: Sandboxes;
  dials!: ContainerDials;
  records!: SandboxRecords;
  copies!: StepCopies;
  agentStore!: AgentStore;
  signIns!: SignInStore;
  listener!: AgentListener;
  machines!: Machines;
  places!: Places;
  reconciler!: Reconciler;
  /** Played ones in place of those of the database. */
  servers: LiveServers | undefined;
  /** All agents so far. */
  readonly #dialled: Agent[] = [];
  #lifecycle!: ServerLifecycle;
  #folder!: string;

  async open(env: Record<string, string> = {}): Promise<this> {
    this.#folder = await mkdtemp(join(tmpdir(), 'belay-'));
    await this.logs.open();
    this.runAgentsIn(this.engine);
    await this.start(env);
    return this;
  }

  async start(env: Record<string, string> = {}): Promise<void> {
    const folder = this.#folder;
    const variables = { BELAY_DATA: folder, XDG_RUNTIME_DIR: folder, BELAY_POOL: '0', ...env };
    const config = new Config(variables);
    const { log, database } = this.logs;
    const servers = this.servers ?? new LiveServers(database, config);
    const others = () => servers.otherIds();
    const host = dockerHostOf(config, this.engine as unknown as DockerClient, others);
    const unused = null as never;
    const documents = await Documents.load(config, database);
    const machines = new MachineStore(documents);
    const dials = new ContainerDials(host);
    this.dials = dials;
    const hosts = new MachineHosts(config, host, dials, machines);
    const storage = this.#storage(config);
    const approved = new ApprovedServices(unused, unused, unused, unused, unused, hosts);
    const live = new TransientNotices();
    this.agentStore = new AgentStore(config, documents);
    this.signIns = new SignInStore(config, documents);
    const agents = new SessionAgents(
      config,
      this.agentStore,
      new InstallableAgents(),
      new ImageLibraries(host),
      this.signIns,
    );
    const calls = new AgentCalls(
      new ConnectionLog(log, agents),
      storage,
      approved,
      new ModelCalls(unused, unused),
      unused,
      live,
    );
    const listener = new AgentListener(config);
    const connections = new SandboxConnections(listener, calls, dials);
    this.sandboxes = new Sandboxes(config, new SessionWorkspaces());
    this.machines = new Machines(config, machines, listener, this.sandboxes, hosts);
    this.places = new Places(config, this.machines, hosts, this.agentStore);
    const containers = new SandboxContainers(
      config,
      hosts,
      new HostFolders(config, host),
      agents,
      connections,
      new MachineAgents(this.machines, connections),
    );
    this.records = new SandboxRecords(new FolderObjects(config.data));
    const pool = new WarmPool(config, containers, this.sandboxes, hosts);
    const deaths = new DeathWatch(config, hosts, containers, this.sandboxes, pool);
    new AbsenceWatch(this.sandboxes, log);
    const store = new SessionsStore(database);
    const owners = new SandboxOwners(config, log, store, servers);
    this.reconciler = new Reconciler(
      hosts,
      containers,
      this.records,
      this.sandboxes,
      owners,
      dials,
    );
    const restored = new RestoredCopies(this.copies, live);
    const files = new SandboxFiles(this.records, containers, calls, restored, log, store);
    this.service = new SandboxService(this.sandboxes, files, containers, pool, calls, deaths);
    this.#lifecycle = new ServerLifecycle(
      this.reconciler,
      deaths,
      pool,
      connections,
      this.machines,
      this.sandboxes,
    );
    this.service.onLost((session, reason) => this.lost.push([session, reason]));
    await this.#lifecycle.onWork();
    if (lease.isHeld) await this.lead();
    // As the product listens only now.
    this.listener = listener;
  }

  /** Begins to lead, after it has worked for its own sessions. */
  async lead(): Promise<void> {
    await this.#lifecycle.beforeLead();
  }

  #storage(config: Config): StorageCalls {
    const objects = new FolderObjects(config.data);
    this.copies = new StepCopies(config, objects);
    return new StorageCalls(
      this.logs.log,
      new TerminalLog(config, new TerminalFiles(config)),
      new BlobStore(config, this.logs.database, objects),
      new TransientNotices(),
      this.copies,
    );
  }

  /** Shuts the server down; containers and their agents keep running. */
  async stop(): Promise<void> {
    await this.#lifecycle.beforeApplicationShutdown();
    await this.dials.onApplicationShutdown();
  }

  async close(): Promise<void> {
    await this.stop();
    // Those that notice it before they are closed do not wait for the server.
    await until('all agents have noticed', () => !this.#dialled.some(({ connected }) => connected));
    await Promise.all(this.#dialled.map((agent) => agent.close()));
    await this.logs.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Starts a session’s sandbox, as the start queue does. */
  async startSession(session: string, bytes?: number): Promise<void> {
    const { log } = this.logs;
    const known = (await log.summaries()).some(({ id }) => id === session);
    if (!known) await this.logs.session(session);
    const epoch = await log.nextEpoch(session);
    const settings = await log.settings(session);
    const events = await log.read(session, { after: 0 });
    const openTar = () => Promise.resolve({ tar: Readable.from([Buffer.alloc(bytes ?? 0)]) });
    await this.service.start({ session, settings, events, epoch }, bytes ? openTar : undefined);
  }

  /** Containers that start in this engine, of this server or of a machine, have agents. */
  runAgentsIn(engine: FakeEngine): void {
    engine.onStart = (container) => this.#runAgent(container, engine);
  }

  #runAgent(container: FakeContainer, engine: FakeEngine): () => void {
    if (!this.agent.connects) return () => {};
    const mount = container.spec.HostConfig?.Mounts?.find(({ Target }) => Target === '/run/belay');
    const address = `unix:${mount?.Source}/agent.sock`;
    const agent: Agent = dialRpc({ address, serves: agentCalls, calls: serverCalls });
    this.#dialled.push(agent);
    let own: StartPayload | undefined;
    const nothing = () => Promise.resolve({});
    agent.serve({
      'session.begin': async (payload) => {
        await this.agent.begin(payload);
        own = payload;
        this.begun.push(payload);
        this.agents.set(payload.session, agent);
        return {};
      },
      'session.events': nothing,
      'operation.call': () => Promise.resolve({ output: null }),
      'terminal.keys': nothing,
      'terminal.resize': nothing,
      'terminal.hold': nothing,
      'terminal.open': nothing,
      'browser.watch': nothing,
      'copies.checkOut': () => this.agent.checkOut(),
      'copies.flush': async () => {
        await this.agent.flush();
        return {};
      },
      'check.run': () => Promise.reject(new Error('No check is run.')),
      shutdown: () => {
        if (this.agent.exits) engine.kill(container, { code: 0 });
        return Promise.resolve({});
      },
    });
    agent.accept('workspace.import', async (_meta, stream) => {
      let bytes = 0;
      stream.on('data', (chunk: Buffer) => (bytes += chunk.byteLength));
      stream.once('end', () => {
        this.agent.unpack(bytes).then(
          () => {
            this.unpacked.push(bytes);
            stream.end();
          },
          (error: AppError) => stream.destroy(error),
        );
      });
    });
    agent.accept('copies.restore', async ({ kind }, stream) => {
      buffer(stream.iterator({ destroyOnReturn: false }))
        .then((bytes) => this.agent.restore(kind, bytes))
        .then(
          () => stream.end(),
          (error: AppError) => stream.destroy(error),
        );
    });
    agent.on('connected', () => {
      const { session = null, epoch = 0 } = own ?? {};
      const lastSeq = own?.events.at(-1)?.seq ?? 0;
      void agent.call('hello', { version: '1', session, epoch, lastSeq }).catch(() => {});
    });
    return () => void agent.close();
  }
}
