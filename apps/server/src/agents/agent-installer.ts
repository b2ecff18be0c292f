import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { AppError, errorFrom, type AgentChoice } from '@belay/protocol';
import { Mutex } from 'async-mutex';
import type { OnLead } from '../storage/on-lead.js';
import { EventLog } from '../logs/event-log.js';
import type { AgentEntry } from './agent-entry.js';
import { InstallableAgents } from './installable-agents.js';
import { lockedVersion, variantsOf, type AgentLock, type Architecture } from './agent-lock.js';
import { AgentVolumes } from './agent-volumes.js';
import { AgentStore, noSuchAgent, type InstalledVersion } from './agent.store.js';

/** An install that is running or has failed. */
interface Job {
  state: 'installing' | 'failed';
  done: number;
  total: number;
  error: string | null;
}

/** Installs, updates and removes agents, one at a time; a failure leaves the previous state. */
@Injectable()
export class AgentInstaller implements OnLead, BeforeApplicationShutdown {
  readonly #logger = new Logger(AgentInstaller.name);
  readonly #queue = new Mutex();
  readonly #jobs = new Map<string, Job>();
  readonly #closing = new AbortController();

  constructor(
    private readonly store: AgentStore,
    private readonly volumes: AgentVolumes,
    private readonly installable: InstallableAgents,
    private readonly log: EventLog,
  ) {}

  /** Removes the remains of an install that was killed, and what no session needs any more. */
  onLead(): void {
    const tidy = async (): Promise<void> => {
      const { installed } = this.store;
      if (installed.length === 0) return;
      await this.volumes.keepOnly(installed.flatMap(volumesOf));
      await this.#removeUnneeded();
    };
    void this.#queue
      .runExclusive(tidy)
      .catch((error: unknown) => this.#logger.warn(errorFrom(error).message));
  }

  /** Cancels a running install. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#closing.abort(new AppError('cancelled', 'The server was stopped during the install.'));
    await this.#queue.runExclusive(() => undefined);
  }

  /**
   * Begins an install in the background, unless one of this agent is running; `other` takes the place of Belay's lock.
   * Throws `conflict` for a proprietary licence that is not accepted, and for a processor that its programs do not run on.
   */
  begin(name: string, { accept, other }: { accept: boolean; other?: AgentLock | undefined }): void {
    const { entry, lock: own } = this.#known(name);
    const lock = other ?? own;
    if (this.#jobs.get(name)?.state === 'installing') return;
    if (entry.licence.spdx === null && !accept)
      throw new AppError(
        'conflict',
        `${entry.title} has a proprietary licence: ${entry.licence.url}. Read it, then accept it with: belay agents install ${name} --accept`,
      );
    const arch = process.arch as Architecture;
    const variants = variantsOf(lock, arch);
    if (variants.length === 0)
      throw new AppError('conflict', `${entry.title} has no program for this processor (${arch}).`);
    const packages = [...new Set(variants.flatMap((variant) => variant.packages))];
    const total = packages.reduce((sum, { size }) => sum + size, 0);
    const job: Job = { state: 'installing', done: 0, total, error: null };
    this.#jobs.set(name, job);
    const work = async (): Promise<void> => {
      const { signal } = this.#closing;
      const version = lockedVersion(lock);
      // What an install that was killed left.
      await this.volumes.keepOnly(this.store.installed.flatMap(volumesOf));
      const progress = { signal, onBytes: (count: number) => void (job.done += count) };
      await this.volumes.withPackages(packages, progress, async (files) => {
        const volumes: InstalledVersion['volumes'] = [];
        for (const variant of variants) {
          const libraries = [...variant.libraries];
          const kind = libraries.length > 1 ? 'any' : (libraries[0] ?? 'any');
          const volume = this.store.volumeName([name, version, arch, kind]);
          await this.volumes.fill(volume, variant, { files, signal });
          volumes.push({ name: volume, libraries });
        }
        const installed = new Date().toISOString();
        await this.store.putInstalled({ name, version, installed, volumes, retired: false });
      });
      await this.#removeUnneeded();
    };
    void this.#queue.runExclusive(work).then(
      () => this.#jobs.delete(name),
      (error: unknown) => {
        const { message } = errorFrom(error);
        Object.assign(job, { state: 'failed', error: message });
        this.#logger.warn(`${entry.title} was not installed: ${message}`);
      },
    );
  }

  /** New sessions do not get it any more; its files go with the last session that has it. Throws `not_found`. */
  remove(name: string): Promise<void> {
    return this.#queue.runExclusive(async () => {
      this.#jobs.delete(name);
      if (!this.store.current(name))
        throw new AppError('not_found', `${this.#known(name).entry.title} is not installed.`);
      await this.store.retire(name);
      await this.#removeUnneeded();
    });
  }

  /** Called when a session was removed. */
  async sessionRemoved(): Promise<void> {
    if (this.store.installed.some(({ retired }) => retired))
      await this.#queue.runExclusive(() => this.#removeUnneeded());
  }

  /** The state of an install, for people. */
  progress(name: string): Pick<AgentChoice, 'state' | 'bytes' | 'error'> {
    const job = this.#jobs.get(name);
    const state = job?.state ?? (this.store.current(name) ? 'ready' : 'missing');
    const { done = 0, total = 0 } = job ?? {};
    return { state, bytes: { done, total }, error: job?.error ?? null };
  }

  async #removeUnneeded(): Promise<void> {
    const retired = this.store.installed.filter((one) => one.retired);
    if (retired.length === 0) return;
    const sessions = await this.log.summaries();
    for (const one of retired) {
      const isUsed = sessions.some(
        ({ agent }) => agent?.name === one.name && agent.version === one.version,
      );
      if (isUsed) continue;
      for (const volume of volumesOf(one)) await this.volumes.remove(volume);
      await this.store.forget(one);
    }
  }

  #known(name: string): { entry: AgentEntry; lock: AgentLock } {
    const found = this.installable.known(name);
    if (!found) throw noSuchAgent(name);
    return found;
  }
}

const volumesOf = ({ volumes }: InstalledVersion): string[] => volumes.map(({ name }) => name);
