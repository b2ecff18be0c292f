import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import {
  DockerClient,
  dockerError,
  type EngineEvent,
  type FoundContainer,
  labels,
} from '@belay/containers';
import { errorFrom, ignoreError } from '@belay/protocol';
import { EventLog } from '../../logs/event-log.js';
import { ownPrograms } from '../../programs/program-spec.js';
import { Volumes } from '../engine/volumes.js';
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
 * The delay before the engine is asked again after its event stream ended; it doubles while the engine is unavailable.
 */
const firstRetryDelayMs = 200;
const maxRetryDelayMs = 2_000;

/**
 * Keeps the server’s state in sync with the engine: adopts sandboxes of an earlier server, removes unused containers,
 * and detects exits. The check is repeated after the engine was unavailable.
 */
@Injectable()
export class Reconciler {
  readonly #logger = new Logger(Reconciler.name);
  readonly #closing = new AbortController();
  #following: Promise<void> | undefined;
  #adopted = false;

  constructor(
    private readonly docker: DockerClient,
    private readonly containers: SandboxContainers,
    private readonly volumes: Volumes,
    private readonly records: SandboxRecords,
    private readonly sandboxes: Sandboxes,
    private readonly log: EventLog,
  ) {}

  /** Resolves after the first check, even if the engine does not respond; then follows the engine until `close`. */
  async start(findings: Findings): Promise<void> {
    await this.#adoptOnMachines();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#following = this.#follow(findings, resolve);
    await promise;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following;
  }

  async #follow(findings: Findings, looked: () => void): Promise<void> {
    const { signal } = this.#closing;
    let pauseMs = firstRetryDelayMs;
    let away = false;
    while (!signal.aborted) {
      try {
        // The subscription starts before the check, so no event is missed in between.
        const events = await this.docker.events(this.docker.ownLabel, signal);
        await (this.#adopted ? this.#check(findings) : this.#adoptAll(findings));
        if (away) this.#logger.log('Docker is back.');
        away = false;
        looked();
        pauseMs = firstRetryDelayMs;
        for await (const event of events) this.#handle(event, findings);
      } catch (error) {
        if (!away) this.#logger.warn(dockerError(error).message);
        away = true;
        looked();
      }
      await delay(pauseMs, undefined, { signal, ref: false }).catch(
        ignoreError('the server is closing'),
      );
      pauseMs = Math.min(2 * pauseMs, maxRetryDelayMs);
    }
  }

  #handle({ action, labels: found }: EngineEvent, findings: Findings): void {
    if (action !== 'die' && action !== 'destroy') return;
    const sandbox = this.sandboxes.withId(found[labels.sandbox] ?? '');
    if (sandbox && !sandbox.isEnding) void findings.died(sandbox);
  }

  /** Agents on other machines reconnect by themselves; no engine here knows them. */
  async #adoptOnMachines(): Promise<void> {
    for (const record of await this.#validRecords()) {
      const { sandbox: id, session, machine, token } = record;
      const isRunning = machine !== undefined && token !== undefined;
      if (!isRunning || this.sandboxes.ofSession(session) || !(await this.#isCurrent(record)))
        continue;
      const sandbox = this.sandboxes.add({ ...record, id });
      sandbox.adopt('');
      await this.containers.listen(sandbox);
    }
  }

  /** Checks after a time without events: reports sandboxes that have exited, and removes unowned containers. */
  async #check(findings: Findings): Promise<void> {
    const containers = await this.docker.list(this.docker.ownLabel);
    const running = new Set(containers.filter((one) => one.running).map(({ id }) => id));
    for (const sandbox of this.sandboxes.all()) {
      // A sandbox that is being created may not run yet.
      const wasRunning = sandbox.hasBegun || sandbox.connection !== undefined;
      if (sandbox.machine !== undefined) continue;
      if (wasRunning && !sandbox.isEnding && !running.has(sandbox.container)) {
        await findings.died(sandbox);
      }
    }
    const records = await this.#validRecords();
    for (const container of containers) {
      const isKnown = this.sandboxes.withId(container.labels[labels.sandbox] ?? '') !== undefined;
      if (!isKnown && !this.#belongs(container, records)) await this.docker.remove(container.id);
    }
    // Removes volumes of starts that failed in the engine; containers being created may still use theirs.
    if (this.containers.busy === 0) await this.#removeVolumes();
  }

  /** The first check: adopts or removes what an earlier server left. */
  async #adoptAll(findings: Findings): Promise<void> {
    const containers = await this.docker.list(this.docker.ownLabel);
    const records = await this.#validRecords();
    for (const container of containers) {
      const id = container.labels[labels.sandbox];
      if (id !== undefined && this.sandboxes.withId(id)) continue;
      const record = records.find((one) => one.sandbox === id);
      const isCurrent = record !== undefined && (await this.#isCurrent(record));
      if (isCurrent) await this.#takeOver(container, record, findings);
      else if (!this.#belongs(container, records)) {
        await this.docker.remove(container.id);
        if (id !== undefined) await this.containers.removeFolder(id);
      }
    }
    await this.#removeVolumes();
    this.#adopted = true;
  }

  /** Records of existing sessions whose files are worth keeping; others are removed. */
  async #validRecords(): Promise<SandboxRecord[]> {
    const valid: SandboxRecord[] = [];
    for (const record of await this.records.all()) {
      if (this.sandboxes.ofSession(record.session)) valid.push(record);
      else if (record.begun && (await this.#epoch(record.session)) !== undefined)
        valid.push(record);
      else await this.records.remove(record.session);
    }
    return valid;
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

  async #takeOver(
    container: FoundContainer,
    record: SandboxRecord,
    findings: Findings,
  ): Promise<void> {
    const { sandbox: id, volumes, session, epoch, agent } = record;
    const options = { id, volumes, session, epoch, agent };
    if (!container.running) {
      const ended = new Sandbox(options);
      ended.container = container.id;
      return findings.lost(ended, session);
    }
    const sandbox = this.sandboxes.add(options);
    sandbox.adopt(container.id);
    await this.containers.listen(sandbox);
  }

  /** Whether a container is in use: browsers of running or starting sandboxes, and programs of this server process. */
  #belongs(container: FoundContainer, records: SandboxRecord[]): boolean {
    const program = container.labels[labels.program];
    if (program !== undefined) return program === ownPrograms;
    const beside = container.labels[labels.sidecar];
    if (beside !== undefined) return records.some((one) => one.sandbox === beside);
    return container.labels[labels.sandbox] === undefined && this.containers.busy > 0;
  }

  async #removeVolumes(): Promise<void> {
    // Listed first, because a sandbox is known before its volumes are created.
    const labelled = await this.docker.volumes(this.docker.ownLabel);
    const found = new Set([...labelled, ...this.volumes.unremoved]);
    const known = [...(await this.#validRecords()), ...this.sandboxes.all()];
    const needed = new Set(known.flatMap(({ volumes }) => [volumes.workspace, volumes.state]));
    for (const name of found) if (!needed.has(name)) await this.volumes.removeOne(name);
  }
}
