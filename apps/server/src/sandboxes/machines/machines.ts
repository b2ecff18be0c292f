import { Injectable, Logger } from '@nestjs/common';
import type { RemoteHost } from '@belay/containers';
import {
  AppError,
  machineCalls,
  machineServerCalls,
  visibleText,
  type Machine,
  type MachineDescription,
  type PlaceCapacity,
  type PlaceLabels,
  type SessionMachine,
} from '@belay/protocol';
import type { RpcConnection } from '@belay/rpc';
import { sees, seesAll, type Caller } from '../../access/caller.js';
import { Config } from '../../config.js';
import { AgentListener } from '../connection/agent-listener.js';
import type { Sandbox } from '../lifecycle/sandbox.js';
import { Sandboxes } from '../lifecycle/sandboxes.js';
import { assertMayUseMachine, mayUseMachine } from './assert-may-use-machine.js';
import { MachineHosts } from './machine-hosts.js';
import { MachineStore, type StoredMachine } from './machine.store.js';

export type MachineConnection = RpcConnection<typeof machineServerCalls, typeof machineCalls>;

/** Receives news about agents on machines. */
export interface MachineListener {
  /** The machine reports that this agent has ended, or that it does not run it. */
  ended(sandbox: Sandbox, reason: string): void;
}

/** How long a machine may take to end an agent, or to start it. */
const callTimeoutMs = 20_000;
/** The number of folders that one call may name. */
const maxFolders = 10;

/** The machines that joined: their connections, and the agents that they run for sessions. */
@Injectable()
export class Machines {
  readonly #logger = new Logger(Machines.name);
  readonly #connections = new Map<string, MachineConnection>();
  /** What connected machines have for agents in containers, as they say. */
  readonly #capacities = new Map<string, PlaceCapacity>();
  /** Timers for disconnected machines, until it is clear whether they come back. */
  readonly #leases = new Map<string, NodeJS.Timeout>();
  #listener: MachineListener = { ended: () => {} };

  constructor(
    private readonly config: Config,
    private readonly store: MachineStore,
    private readonly listener: AgentListener,
    private readonly sandboxes: Sandboxes,
    private readonly hosts: MachineHosts,
  ) {}

  /** Admits joined machines; their agents must be known by now. */
  open(listener: MachineListener): void {
    this.#listener = listener;
    for (const machine of this.store.all()) {
      this.#letIn(machine);
      this.#watchLease(machine.id);
    }
  }

  /**
   * Those that the caller may use: a bare machine is nothing to the others. For a caller that sees only some sessions,
   * with these alone, with the name in place of the host’s, and without images, whose names say where they come from.
   */
  list(caller: Caller): Machine[] {
    const usable = this.store.all().filter((machine) => mayUseMachine(caller, machine));
    return usable.map(({ id, name, host, os, arch, kind, joined, labels, draining }) => ({
      id,
      name,
      host: seesAll(caller) ? host : name,
      os,
      arch,
      kind,
      joined,
      labels,
      draining,
      connected: this.isConnected(id),
      capacity: shownTo(caller, this.capacityOf(id)),
      running: this.sessionsOn(id).length,
      moves: [],
      sessions: this.sessionsOn(id).filter((session) => sees(caller, session)),
    }));
  }

  /** The sessions whose agents run on a machine; null for sandboxes of the server. */
  sessionsOn(machine: string | null): string[] {
    return this.#sandboxesOf(machine ?? undefined).flatMap(({ session }) => session ?? []);
  }

  all(): readonly StoredMachine[] {
    return this.store.all();
  }

  /** Undefined for a bare machine, and for one that was not connected since the server’s start. */
  capacityOf(machine: string): PlaceCapacity | undefined {
    return this.#capacities.get(machine);
  }

  /** By id or name. */
  known(machine: string): StoredMachine | undefined {
    return this.store.known(machine);
  }

  /** The machine for a session that names it. Throws `not_found`, and `unavailable` when it is not connected. */
  connectedNamed(name: string): StoredMachine {
    const machine = this.store.named(name);
    if (!machine)
      throw new AppError('not_found', `There is no machine ${name}. See: belay machines list`);
    if (!this.#connections.get(machine.id)?.connected)
      throw new AppError('unavailable', notConnected(name));
    return machine;
  }

  /**
   * The machine that a caller names, as part of a session’s settings. Throws `forbidden` for a bare one that the caller
   * may not use, `unavailable` for one that is being drained, and otherwise like `connectedNamed`.
   */
  chosenBy(caller: Caller, name: string): SessionMachine {
    const { kind, draining } = this.connectedNamed(name);
    const machine = { name, kind };
    assertMayUseMachine(caller, machine);
    if (draining) throw new AppError('unavailable', isDraining(name));
    return machine;
  }

  /**
   * The id of the machine that was chosen for a session. Throws like `connectedNamed`, and `forbidden` if a machine of
   * the other kind has joined under its name since: an agent that was confined must not begin unconfined.
   */
  ofSession({ name, kind }: SessionMachine): string {
    const machine = this.connectedNamed(name);
    if (machine.kind === kind) return machine.id;
    const wanted = kind === 'container' ? 'with --container' : 'without --container';
    throw new AppError(
      'forbidden',
      `The session was started on another machine ${name}: join this one ${wanted}, as that one was.`,
    );
  }

  invite(name: string, labels?: PlaceLabels): ReturnType<MachineStore['invite']> {
    return this.store.invite(name, labels);
  }

  async join(
    token: string,
    description: MachineDescription,
  ): Promise<{ id: string; name: string; credential: string }> {
    const { machine, credential } = await this.store.join(token, description);
    this.#letIn(machine);
    this.#logger.log(`The machine ${machine.name} (${machine.kind}) joined.`);
    return { id: machine.id, name: machine.name, credential };
  }

  /** By id or name. Throws `not_found`. */
  async change(
    machine: string,
    change: Partial<Pick<StoredMachine, 'labels' | 'draining'>>,
  ): Promise<StoredMachine> {
    const changed = await this.store.change(machine, change);
    if (change.draining !== undefined) this.hosts.changed(changed.id);
    return changed;
  }

  /** Revokes its credential and those of its agents. */
  async remove(id: string): Promise<void> {
    const machine = await this.store.remove(id);
    const reason = new AppError('unauthorized', `The machine ${machine.name} was removed.`);
    this.#connections.delete(machine.id);
    this.#capacities.delete(machine.id);
    this.listener.remove(entryOf(machine.id), reason);
    await this.hosts.remove(machine.id);
    for (const sandbox of this.#sandboxesOf(machine.id))
      this.#listener.ended(sandbox, `The machine ${machine.name} was removed.`);
    this.#logger.log(`The machine ${machine.name} was removed.`);
  }

  /** Makes a bare machine start the agent of a sandbox, which connects with `token`. */
  async startAgent(sandbox: Sandbox, token: string): Promise<void> {
    const { id, session, files } = sandbox;
    if (session === null) throw new AppError('internal', 'A machine runs agents of sessions only.');
    this.#logger.log(`Session ${session} runs on the machine ${this.#nameOf(sandbox)}.`);
    const signal = AbortSignal.timeout(callTimeoutMs);
    const agent = { sandbox: id, session, token, ...foldersOf(files) };
    await this.#connectionOf(sandbox).call('agents.start', agent, { signal });
  }

  /** A disconnected machine ends the agent when it reconnects. */
  async stopAgent(sandbox: Sandbox): Promise<void> {
    await this.#request(sandbox.machine, 'agents.stop', { sandbox: sandbox.id });
  }

  /** A machine that is disconnected, or fails, removes them at its next hello. */
  async removeFiles(machine: string, folders: string[]): Promise<void> {
    for (let at = 0; at < folders.length; at += maxFolders) {
      const some = folders.slice(at, at + maxFolders);
      const removed = await this.#request(machine, 'files.remove', { folders: some });
      await this.store.setLeftFiles(machine, some, !removed);
    }
  }

  /** The newest one of a machine; undefined before its first. */
  connectionOf(machine: string): MachineConnection | undefined {
    return this.#connections.get(machine);
  }

  isConnected(machine: string | undefined): boolean {
    return machine !== undefined && (this.#connections.get(machine)?.connected ?? false);
  }

  async #request(
    machine: string | undefined,
    ...[name, input]:
      | [name: 'agents.stop', input: { sandbox: string }]
      | [name: 'files.remove', input: { folders: string[] }]
  ): Promise<boolean> {
    const connection = machine === undefined ? undefined : this.#connections.get(machine);
    if (!connection?.connected) return false;
    const signal = AbortSignal.timeout(callTimeoutMs);
    const call =
      name === 'agents.stop'
        ? connection.call(name, input, { signal })
        : connection.call(name, input, { signal });
    return call.then(
      () => true,
      (error: unknown) => {
        this.#logger.warn(error);
        return false;
      },
    );
  }

  #letIn(machine: StoredMachine): void {
    const { id, credential, kind } = machine;
    const host = kind === 'container' ? this.hosts.add(machine) : undefined;
    this.listener.openRemote(entryOf(id), credential, {
      serves: machineServerCalls,
      calls: machineCalls,
      dialled: host && ((container, dial) => host.dialled(container, dial)),
      authorize: async () => {
        if (this.isConnected(id))
          throw new AppError('conflict', 'This machine is connected already, by another process.');
      },
      onConnection: (connection) => {
        void this.#connections.get(id)?.close();
        this.#connections.set(id, connection);
        host?.connect(connection);
        this.#serve(id, connection, host);
      },
    });
  }

  #serve(id: string, connection: MachineConnection, host: RemoteHost | undefined): void {
    connection.on('disconnected', () => this.#watchLease(id));
    connection.serve({
      'host.seen': async (seen, context) => host?.handlers['host.seen'](seen, context) ?? {},
      'machine.hello': async ({ description, running, capacity }) => {
        const machine = this.store.known(id);
        if (!machine) throw new AppError('unauthorized', 'This machine was removed.');
        if (description.kind !== machine.kind)
          throw new AppError(
            'conflict',
            `This machine joined as ${machine.kind}: remove it and join again.`,
          );
        if (host && capacity) this.#capacities.set(id, capacity);
        // Its containers report themselves: see `Reconciler`.
        if (host) return { name: machine.name, end: [] };
        void this.#removeLeftFiles(id).catch((error: unknown) => this.#logger.warn(error));
        return { name: machine.name, end: this.#compare(id, running) };
      },
      'agents.ended': async ({ sandbox: ended, reason }) => {
        const sandbox = this.#sandboxesOf(id).find((one) => one.id === ended);
        if (sandbox) this.#listener.ended(sandbox, visibleText(reason));
        return {};
      },
    });
  }

  /**
   * Ends the agents of a machine that stays away too long, even if their own connections work: nothing there could end
   * them later.
   */
  #watchLease(id: string): void {
    const { machineLeaseMs } = this.config;
    const expire = () => {
      this.#leases.delete(id);
      if (this.isConnected(id)) return;
      const reason = `Its machine was not connected for ${Math.round(machineLeaseMs / 1000)} s.`;
      for (const sandbox of this.#sandboxesOf(id))
        if (sandbox.hasBegun && !sandbox.isEnding) this.#listener.ended(sandbox, reason);
    };
    clearTimeout(this.#leases.get(id));
    this.#leases.set(id, setTimeout(expire, machineLeaseMs).unref());
  }

  /** Agents unknown to the server must end on the machine; agents that the machine does not run have ended. */
  #compare(id: string, running: string[]): string[] {
    const known = this.#sandboxesOf(id);
    for (const sandbox of known)
      if (sandbox.hasBegun && !sandbox.isEnding && !running.includes(sandbox.id))
        this.#listener.ended(sandbox, 'The agent ended while its machine was not connected.');
    return running.filter(
      (one) => !known.some((sandbox) => sandbox.id === one && !sandbox.isEnding),
    );
  }

  /** Removes files of sessions deleted while the machine was away or failed to remove them. */
  async #removeLeftFiles(machine: string): Promise<void> {
    const folders = this.store.leftFiles(machine);
    if (folders.length > 0) await this.removeFiles(machine, folders);
  }

  #sandboxesOf(machine: string | undefined): Sandbox[] {
    return this.sandboxes.all().filter((sandbox) => sandbox.machine === machine);
  }

  #connectionOf(sandbox: Sandbox): MachineConnection {
    const connection = this.#connections.get(sandbox.machine ?? '');
    if (connection?.connected) return connection;
    throw new AppError('unavailable', notConnected(this.#nameOf(sandbox)));
  }

  #nameOf(sandbox: Sandbox): string {
    return this.store.known(sandbox.machine)?.name ?? 'that was removed';
  }
}

const shownTo = (caller: Caller, capacity: PlaceCapacity | undefined): PlaceCapacity | null =>
  capacity ? { ...capacity, ...(!seesAll(caller) && { images: [] }) } : null;

const notConnected = (name: string): string =>
  `The machine ${name} is not connected: run “belay join” there again.`;

/** Why a machine takes no session. */
export const isDraining = (name: string): string =>
  `The machine ${name} is being drained: name another one, or let it take sessions again with “belay machines use ${name}”.`;

/** A machine’s names for the files of a session. */
export const foldersOf = (files: string): { workspace: string; state: string } => ({
  workspace: `belay-${files}-workspace`,
  state: `belay-${files}-state`,
});

/** The machine’s own entry in the listener, beside those of sandboxes. */
const entryOf = (machine: string): string => `machine-${machine}`;
