import { Injectable, Logger } from '@nestjs/common';
import { ContainerHost, followHost, type Seen } from '@belay/containers';
import { errorFrom } from '@belay/protocol';
import { ContainerDials } from '../../containers/container-dials.js';
import { EventLog } from '../../logs/event-log.js';
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
 * Keeps the server’s state in sync with the host of its containers: adopts sandboxes of an earlier server, removes
 * unused containers and files, and detects exits. The check is repeated after the host was away.
 */
@Injectable()
export class Reconciler {
  readonly #logger = new Logger(Reconciler.name);
  readonly #closing = new AbortController();
  #following: Promise<void> | undefined;
  #adopted = false;

  constructor(
    private readonly host: ContainerHost,
    private readonly containers: SandboxContainers,
    private readonly records: SandboxRecords,
    private readonly sandboxes: Sandboxes,
    private readonly log: EventLog,
    private readonly dials: ContainerDials,
  ) {}

  /** Resolves after the first check, even if the host does not respond; then follows the host until `close`. */
  async start(findings: Findings): Promise<void> {
    await this.#adoptOnMachines();
    const { promise: looked, resolve } = Promise.withResolvers<void>();
    this.#following = followHost(this.host, {
      signal: this.#closing.signal,
      synced: async (found) => {
        await (this.#adopted ? this.#check(found, findings) : this.#adoptAll(found, findings));
        resolve();
      },
      changed: (seen) => this.#handle(seen, findings),
      away: (error) => {
        this.#logger.warn(error.message);
        resolve();
      },
      back: () => this.#logger.log(`${this.host.name} is back.`),
    });
    await looked;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following;
  }

  #handle({ id, state }: Seen, findings: Findings): void {
    const sandbox = this.sandboxes.withId(id);
    const isOver = state === 'ended' || state === 'gone';
    if (isOver && sandbox && !sandbox.isEnding) void findings.died(sandbox);
  }

  /** Agents on other machines reconnect by themselves; no host of containers here knows them. */
  async #adoptOnMachines(): Promise<void> {
    for (const record of await this.#validRecords()) {
      const { sandbox: id, session, machine, token } = record;
      const isRunning = machine !== undefined && token !== undefined;
      if (!isRunning || this.sandboxes.ofSession(session) || !(await this.#isCurrent(record)))
        continue;
      const sandbox = this.sandboxes.add({ ...record, id });
      sandbox.adopt();
      await this.containers.adopt(sandbox);
    }
  }

  /** Checks after a time without news: reports sandboxes that have exited, and removes unowned containers. */
  async #check(found: readonly Seen[], findings: Findings): Promise<void> {
    const running = new Set(found.filter(({ state }) => state === 'running').map(({ id }) => id));
    for (const sandbox of this.sandboxes.all()) {
      // A sandbox that is being created may not run yet.
      const wasRunning = sandbox.hasBegun || sandbox.connection !== undefined;
      if (sandbox.machine !== undefined) continue;
      if (!wasRunning || sandbox.isEnding || running.has(sandbox.id)) continue;
      // It may have begun since they were listed.
      if ((await this.host.look(sandbox.id)).state !== 'running') await findings.died(sandbox);
    }
    for (const { id } of found) if (!this.#isUsed(id)) await this.host.remove(id);
    // Removes files of starts that failed in the host; containers being created may still use theirs.
    if (this.containers.busy === 0) await this.#removeFiles();
  }

  /** The first check: adopts or removes what an earlier server left. */
  async #adoptAll(found: readonly Seen[], findings: Findings): Promise<void> {
    const records = await this.#validRecords();
    for (const seen of found) {
      if (this.#isUsed(seen.id)) continue;
      const record = records.find(({ sandbox }) => sandbox === seen.id);
      if (record && (await this.#isCurrent(record))) await this.#takeOver(seen, record, findings);
      else await this.host.remove(seen.id);
    }
    await this.#removeFiles();
    this.#adopted = true;
  }

  /** By a sandbox, or by a program of this process; an earlier process’s programs are of no use. */
  #isUsed(id: string): boolean {
    return this.sandboxes.withId(id) !== undefined || this.dials.has(id);
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

  async #removeFiles(): Promise<void> {
    // Listed first, because a sandbox is known before its files are created.
    const stored = await this.host.storedFiles();
    const known = [...(await this.#validRecords()), ...this.sandboxes.all()];
    const needed = new Set(known.map(({ files }) => files));
    for (const files of stored) if (!needed.has(files)) await this.host.removeFiles(files);
  }
}
