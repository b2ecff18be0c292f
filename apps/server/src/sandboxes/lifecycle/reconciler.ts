import { Injectable, Logger } from '@nestjs/common';
import { followHost, type ContainerHost, type HostFollower, type Seen } from '@belay/containers';
import { errorFrom } from '@belay/protocol';
import { ContainerDials } from '../../containers/container-dials.js';
import { EventLog } from '../../logs/event-log.js';
import { MachineHosts, type SandboxHost } from '../machines/machine-hosts.js';
import { Sandbox } from './sandbox.js';
import { SandboxContainers } from './sandbox-containers.js';
import { SandboxRecords, type SandboxRecord } from './sandbox-records.store.js';
import { Sandboxes } from './sandboxes.js';

/** Callbacks for the reconciler’s findings. */
export interface Findings {
  /** The container of a known sandbox has stopped running. */
  died(sandbox: Sandbox): Promise<void>;
  /** The container of a session ended while no server was there. */
  lost(sandbox: Sandbox, session: string): Promise<void>;
}

/**
 * Keeps the server’s state in sync with the hosts of its containers, its own and those of joined machines: adopts
 * sandboxes of an earlier server, removes unused containers and files, and detects exits. The check is repeated after a
 * host was away. What a machine reports concerns sandboxes on it alone: it is not trusted.
 */
@Injectable()
export class Reconciler {
  readonly #logger = new Logger(Reconciler.name);
  readonly #closing = new AbortController();
  #following: Promise<void> | undefined;
  #adopted = false;

  constructor(
    private readonly hosts: MachineHosts,
    private readonly containers: SandboxContainers,
    private readonly records: SandboxRecords,
    private readonly sandboxes: Sandboxes,
    private readonly log: EventLog,
    private readonly dials: ContainerDials,
  ) {}

  /**
   * Resolves after the first check of this server’s own host, even if that does not respond; then follows all hosts until
   * `close`.
   */
  async start(findings: Findings): Promise<void> {
    await this.#adoptOnMachines();
    const { promise: looked, resolve } = Promise.withResolvers<void>();
    const { own } = this.hosts;
    this.#following = this.#follow(own, {
      synced: async (found) => {
        await (this.#adopted ? this.#check(own, found, findings) : this.#adoptAll(found, findings));
        resolve();
      },
      changed: (seen) => this.#handle(own, seen, findings),
      away: (error) => {
        this.#logger.warn(error.message);
        resolve();
      },
      back: () => this.#logger.log(`${own.host.name} is back.`),
    });
    await looked;
    this.hosts.onAdded((on) => {
      void this.#follow(on, {
        synced: async (found) => {
          await this.#check(on, found, findings);
          this.hosts.setChecked(on, true);
        },
        changed: (seen) => this.#handle(on, seen, findings),
        away: (error) => {
          this.#logger.debug(error.message);
          this.hosts.setChecked(on, false);
        },
        back: () => {},
      });
    });
  }

  /** Waits for no machine: one that does not respond would delay the end of the server. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following;
  }

  #follow({ host, signal }: SandboxHost, follower: Omit<HostFollower, 'signal'>): Promise<void> {
    const ends = AbortSignal.any([this.#closing.signal, signal]);
    return followHost(host, { ...follower, signal: ends });
  }

  #handle(on: SandboxHost, { id, state }: Seen, findings: Findings): void {
    const sandbox = this.#on(on, id);
    const isOver = state === 'ended' || state === 'gone';
    if (isOver && sandbox && !sandbox.isEnding) void findings.died(sandbox);
  }

  /** They are not reported before their machine has connected. */
  async #adoptOnMachines(): Promise<void> {
    for (const record of await this.#validRecords()) {
      const { sandbox: id, session, machine, token, running } = record;
      const isRunning = machine !== undefined && (running || token !== undefined);
      if (!isRunning || this.sandboxes.ofSession(session) || !(await this.#isCurrent(record)))
        continue;
      // Earlier versions gave a token to agents in containers, too.
      const sandbox = this.sandboxes.add({
        ...record,
        id,
        token: this.hosts.of(machine) ? undefined : token,
      });
      sandbox.adopt();
      await this.containers.adopt(sandbox);
    }
  }

  /** Checks after a time without news: reports sandboxes that have exited, and removes unowned containers. */
  async #check(on: SandboxHost, found: readonly Seen[], findings: Findings): Promise<void> {
    const { host, machine } = on;
    const running = new Set(found.filter(({ state }) => state === 'running').map(({ id }) => id));
    for (const sandbox of this.sandboxes.all()) {
      // A sandbox that is being created may not run yet.
      const wasRunning = sandbox.hasBegun || sandbox.connection !== undefined;
      if (sandbox.machine !== machine) continue;
      if (!wasRunning || sandbox.isEnding || running.has(sandbox.id)) continue;
      // It may have begun since they were listed.
      if ((await host.look(sandbox.id)).state !== 'running') await findings.died(sandbox);
    }
    for (const { id } of found) if (!this.#isUsed(on, id)) await host.remove(id);
    // Removes files of starts that failed in the host; containers being created may still use theirs.
    if (this.containers.busy === 0 || machine !== undefined) await this.#removeFiles(host);
  }

  /** The first check of this server’s own host: adopts or removes what an earlier server left. */
  async #adoptAll(found: readonly Seen[], findings: Findings): Promise<void> {
    const { own } = this.hosts;
    const records = await this.#validRecords();
    for (const seen of found) {
      if (this.#isUsed(own, seen.id)) continue;
      const record = records.find(
        ({ sandbox, machine }) => sandbox === seen.id && machine === undefined,
      );
      if (record && (await this.#isCurrent(record))) await this.#takeOver(seen, record, findings);
      else await own.host.remove(seen.id);
    }
    await this.#removeFiles(own.host);
    this.#adopted = true;
  }

  /** The sandbox with this id, if it is on this host. */
  #on({ machine }: SandboxHost, id: string): Sandbox | undefined {
    const sandbox = this.sandboxes.withId(id);
    return sandbox?.machine === machine ? sandbox : undefined;
  }

  /**
   * By a sandbox, or by a program of this process, which all run on this server’s own host; an earlier process’s programs
   * are of no use.
   */
  #isUsed(on: SandboxHost, id: string): boolean {
    return this.#on(on, id) !== undefined || (on.machine === undefined && this.dials.has(id));
  }

  /** Records of existing sessions whose files are worth keeping; others are removed. */
  async #validRecords(): Promise<SandboxRecord[]> {
    const valid: SandboxRecord[] = [];
    for (const record of await this.records.all()) {
      if (this.sandboxes.ofSession(record.session)) valid.push(record);
      else if (record.begun && (await this.#epoch(record.session)) !== undefined)
        valid.push(record);
      else await this.#undo(record);
    }
    return valid;
  }

  /** After a start that its server did not finish, a session has what it had before on another machine. */
  async #undo({ session, before }: SandboxRecord): Promise<void> {
    const isKept = before && (await this.#epoch(session)) !== undefined;
    await (isKept ? this.records.write(before) : this.records.remove(session));
  }

  async #isCurrent(record: SandboxRecord): Promise<boolean> {
    return record.begun && (await this.#epoch(record.session)) === record.epoch;
  }

  async #epoch(session: string): Promise<number | undefined> {
    try {
      return await this.log.epoch(session);
    } catch (error) {
      if (errorFrom(error).code === 'not_found') return undefined;
      throw error;
    }
  }

  async #takeOver(seen: Seen, record: SandboxRecord, findings: Findings): Promise<void> {
    const { sandbox: id, files, session, epoch, agent } = record;
    const options = { id, files, session, epoch, agent };
    if (seen.state !== 'running') return findings.lost(new Sandbox(options), session);
    const sandbox = this.sandboxes.add(options);
    sandbox.adopt();
    await this.containers.adopt(sandbox);
  }

  async #removeFiles(host: ContainerHost): Promise<void> {
    // Listed first, because a sandbox is known before its files are created.
    const stored = await host.storedFiles();
    const known = [...(await this.#validRecords()), ...this.sandboxes.all()];
    const needed = new Set(known.map(({ files }) => files));
    for (const files of stored) if (!needed.has(files)) await host.removeFiles(files);
  }
}
