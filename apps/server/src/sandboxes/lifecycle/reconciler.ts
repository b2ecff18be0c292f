import { Injectable, Logger } from '@nestjs/common';
import { followHost, type ContainerHost, type HostFollower, type Seen } from '@belay/containers';
import { ignoreError } from '@belay/protocol';
import { ContainerDials } from '../../containers/container-dials.js';
import { serverId } from '../../server-id.js';
import { MachineHosts, type SandboxHost } from '../machines/machine-hosts.js';
import { LookLanes } from './look-lanes.js';
import { Sandbox } from './sandbox.js';
import { SandboxContainers } from './sandbox-containers.js';
import { SandboxOwners, type OwnersNow } from './sandbox-owners.js';
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
 * Keeps the server’s state in sync with the hosts of its containers, its own and those of joined machines: adopts the
 * sandboxes of its sessions, removes unused containers and files, and detects exits. The check is repeated after a host
 * was away. What a machine reports concerns sandboxes on it alone: it is not trusted. What other servers have on the same
 * engine is left alone while they are alive.
 */
@Injectable()
export class Reconciler {
  /** How long others wait for a look that gets no answer, in milliseconds. */
  lookTimeoutMs = 10_000;
  readonly #logger = new Logger(Reconciler.name);
  readonly #closing = new AbortController();
  /** Sandboxes that had their end here: what is left of them is not adopted again. */
  readonly #ended = new Set<string>();
  /** The storage knows what is on machines, which a host of this server that does not answer must not delay. */
  readonly #looks = {
    records: new LookLanes<SandboxRecord | undefined>(),
    host: new LookLanes<void>(),
  };
  #following: { done: Promise<void>; stop: AbortController } | undefined;
  #findings: Findings | undefined;
  /** Whether files may be left that are looked for once no container is being created. */
  #hasSkipped = false;

  constructor(
    private readonly hosts: MachineHosts,
    private readonly containers: SandboxContainers,
    private readonly records: SandboxRecords,
    private readonly sandboxes: Sandboxes,
    private readonly owners: SandboxOwners,
    private readonly dials: ContainerDials,
  ) {
    sandboxes.on('removed', ({ id }) => this.#ended.add(id));
    containers.onIdle(() => {
      const looks = ignoreError('the next check of the host does it');
      if (this.#hasSkipped) void this.#removeUnusedFiles(hosts.own).catch(looks);
    });
  }

  /**
   * Resolves after the first check of this server’s own host, even if that does not respond; then follows it until
   * `close`. Sandboxes on machines are for the server that leads: see `lead`.
   */
  async start(findings: Findings): Promise<void> {
    this.#findings = findings;
    await this.lookAgain();
  }

  /** Like `start`, again for a server that has worked before; from then on, it follows the hosts of machines, too. */
  async lead(findings: Findings): Promise<void> {
    this.#findings = findings;
    const records = await this.records.all();
    const owners = await this.owners.look();
    for (const record of await this.#validRecords(records, owners))
      if (owners.isOurs(record.session)) await this.#adoptOnMachine(record);
    await this.lookAgain();
    this.hosts.onAdded((on) => {
      void this.#follow(on, this.#closing.signal, {
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

  /** Checks this server’s own host anew: another server has ended that used it. Resolves like `start`, whose call it needs. */
  async lookAgain(): Promise<void> {
    const { own } = this.hosts;
    const findings = this.#findings;
    if (!findings) return;
    const before = this.#following;
    const { promise: looked, resolve } = Promise.withResolvers<void>();
    const stop = new AbortController();
    before?.stop.abort();
    const follow = async (): Promise<void> => {
      await before?.done;
      await this.#follow(own, stop.signal, {
        synced: async (found) => {
          await this.#check(own, found, findings);
          this.hosts.setChecked(own, true);
          resolve();
        },
        changed: (seen) => this.#handle(own, seen, findings),
        away: (error) => {
          this.#logger.warn(error.message);
          this.hosts.setChecked(own, false);
          resolve();
        },
        back: () => this.#logger.log(`${own.host.name} is back.`),
      });
      resolve();
    };
    this.#following = { done: follow(), stop };
    await looked;
  }

  /**
   * Takes over the sandbox of a session that this server has become the owner of. Does nothing without one that it can
   * use; throws `unavailable` when the storage or the host cannot be asked, and then does so once they are back.
   */
  async adopt(session: string): Promise<void> {
    const findings = this.#findings;
    if (!findings) return;
    const timeoutMs = this.lookTimeoutMs;
    const { records, host } = this.#looks;
    const again = host.again(session, timeoutMs);
    if (again) return again;
    const record = await records.run(session, () => this.#recordOf(session), timeoutMs);
    if (record) await host.run(session, () => this.#adopt(record, findings), timeoutMs);
  }

  /** That of a sandbox of this server’s own host; one on a machine is adopted by its record. */
  async #recordOf(session: string): Promise<SandboxRecord | undefined> {
    const record = await this.records.find(session);
    if (!record || this.sandboxes.ofSession(session)) return undefined;
    if (record.begun && record.machine === undefined) return record;
    await (record.begun ? this.#adoptOnMachine(record) : this.#undo(record));
    return undefined;
  }

  async #adopt(record: SandboxRecord, findings: Findings): Promise<void> {
    if (!(await this.#isUsable(record))) return;
    const { state } = await this.hosts.own.host.look(record.sandbox);
    // The session may have been started anew while this waited.
    if (state === 'gone' || !(await this.#isUsable(record))) return;
    await this.#takeOver({ id: record.sandbox, state }, record, findings);
  }

  /** Waits for no machine: one that does not respond would delay the end of the server. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following?.done;
  }

  #follow(
    { host, signal }: SandboxHost,
    stop: AbortSignal,
    follower: Omit<HostFollower, 'signal'>,
  ): Promise<void> {
    const ends = AbortSignal.any([this.#closing.signal, signal, stop]);
    return followHost(host, { ...follower, signal: ends });
  }

  #handle(on: SandboxHost, { id, state }: Seen, findings: Findings): void {
    const sandbox = this.#on(on, id);
    const isOver = state === 'ended' || state === 'gone';
    if (isOver && sandbox && !sandbox.isEnding) void findings.died(sandbox);
  }

  async #isUsable(record: SandboxRecord): Promise<boolean> {
    return !this.#ended.has(record.sandbox) && (await this.owners.isCurrent(record));
  }

  /** It is not reported before its machine has connected. */
  async #adoptOnMachine(record: SandboxRecord): Promise<void> {
    const { sandbox: id, session, machine, token, running } = record;
    const isRunning = machine !== undefined && (running || token !== undefined);
    if (!isRunning || !(await this.owners.isCurrent(record)) || this.sandboxes.ofSession(session))
      return;
    // Earlier versions gave a token to agents in containers, too.
    const sandbox = this.sandboxes.add({
      ...record,
      id,
      token: this.hosts.of(machine) ? undefined : token,
    });
    sandbox.adopt();
    await this.containers.adopt(sandbox);
  }

  /**
   * Checks after a time without news: reports sandboxes that have exited, adopts those of earlier servers and removes
   * what nobody needs.
   */
  async #check(on: SandboxHost, found: readonly Seen[], findings: Findings): Promise<void> {
    await this.#reportEnds(on, found, findings);
    const unused = found.filter(({ id }) => !this.#isUsed(on, id));
    if (unused.length > 0) await this.#adoptOrRemove(on, unused, findings);
    await this.#removeUnusedFiles(on);
  }

  /** Removes files of starts that failed in the host; containers being created may still use theirs. */
  async #removeUnusedFiles({ host, machine }: SandboxHost): Promise<void> {
    if (machine !== undefined) return this.#removeFiles(host);
    this.#hasSkipped = this.containers.busy > 0;
    if (!this.#hasSkipped && !this.#closing.signal.aborted) await this.#removeFiles(host);
  }

  async #adoptOrRemove(
    on: SandboxHost,
    unused: readonly Seen[],
    findings: Findings,
  ): Promise<void> {
    const records = await this.records.all();
    const owners = await this.owners.look();
    for (const seen of unused) {
      // A start of this server’s may have come since they were listed.
      if (this.#isUsed(on, seen.id)) continue;
      const record = records.find(
        ({ sandbox, machine }) => sandbox === seen.id && machine === on.machine,
      );
      const isCurrent = record !== undefined && (await this.owners.isCurrent(record));
      const isKnown = on.machine !== undefined || this.#ended.has(seen.id);
      if (isCurrent && !isKnown && owners.isOurs(record.session))
        await this.#takeOver(seen, record, findings);
      else if (this.#isLeft(seen, record && { ...record, isCurrent }, owners))
        await on.host.remove(seen.id);
    }
  }

  async #reportEnds(
    { host, machine }: SandboxHost,
    found: readonly Seen[],
    findings: Findings,
  ): Promise<void> {
    const running = new Set(found.filter(({ state }) => state === 'running').map(({ id }) => id));
    for (const sandbox of this.sandboxes.all()) {
      // A sandbox that is being created may not run yet.
      const wasRunning = sandbox.hasBegun || sandbox.connection !== undefined;
      if (sandbox.machine !== machine) continue;
      if (!wasRunning || sandbox.isEnding || running.has(sandbox.id)) continue;
      // It may have begun since they were listed.
      if ((await host.look(sandbox.id)).state !== 'running') await findings.died(sandbox);
    }
  }

  /** Whether an unused container is of no use for other servers either, so that this one removes it. */
  #isLeft(
    { id, server }: Seen,
    record: { session: string; isCurrent: boolean } | undefined,
    owners: OwnersNow,
  ): boolean {
    if (this.#ended.has(id)) return true;
    // A warm one, a program, or one of a start that is under way.
    if (owners.isAlive(server)) return false;
    if (record && owners.isOurs(record.session)) return true;
    const owner = record && owners.other(record.session);
    // Another server has it, or is about to take the session.
    if (owner ? !this.owners.isElsewhere(owner) : record?.isCurrent) return false;
    return owners.tidies || server === serverId;
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
    const isProgram = on.machine === undefined && this.dials.has(id) && !this.#ended.has(id);
    return isProgram || this.#on(on, id) !== undefined;
  }

  /** Records of existing sessions whose files are worth keeping, and those of other servers; the rest is removed. */
  async #validRecords(
    records: readonly SandboxRecord[],
    owners: OwnersNow,
  ): Promise<SandboxRecord[]> {
    const valid: SandboxRecord[] = [];
    for (const record of records) {
      const { session, begun } = record;
      if (this.sandboxes.ofSession(session) || !owners.isOurs(session)) valid.push(record);
      else if (begun && (await owners.exists(session))) valid.push(record);
      else await this.#undo(record);
    }
    return valid;
  }

  /** After a start that its server did not finish, a session has what it had before on another machine. */
  async #undo({ session, before }: SandboxRecord): Promise<void> {
    const isKept = before && (await this.owners.epoch(session)) !== undefined;
    await (isKept ? this.records.write(before) : this.records.remove(session));
  }

  async #takeOver(
    { id, state }: Pick<Seen, 'id' | 'state'>,
    { files, session, epoch, agent }: SandboxRecord,
    findings: Findings,
  ): Promise<void> {
    // Another check may have done so meanwhile.
    if (this.sandboxes.ofSession(session) || this.#ended.has(id)) return;
    const options = { id, files, session, epoch, agent };
    if (state !== 'running') {
      this.#ended.add(id);
      return findings.lost(new Sandbox(options), session);
    }
    const sandbox = this.sandboxes.add(options);
    sandbox.adopt();
    await this.containers.adopt(sandbox);
  }

  async #removeFiles(host: ContainerHost): Promise<void> {
    // Listed first, because a sandbox is known before its files are created.
    const stored = await host.storedFiles();
    const records = await this.records.all();
    const owners = await this.owners.look();
    if (!owners.tidies) return;
    const valid = await this.#validRecords(records, owners);
    const others = valid.filter(({ session }) => !owners.isOurs(session));
    const known = [...valid, ...others.flatMap(({ before }) => before ?? [])];
    const needed = new Set([...known, ...this.sandboxes.all()].map(({ files }) => files));
    for (const files of stored) if (!needed.has(files)) await host.removeFiles(files);
  }
}
