import { randomUUID } from 'node:crypto';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { AppError, errorFrom, type ActionInstall } from '@belay/protocol';
import { timeLimit } from '@belay/rpc';
import { ActionInstaller } from './action-installer.js';
import type { ChosenAction } from './action-sources.js';

/** The number of finished installs that are remembered. */
const keptInstalls = 20;
const maxLines = 20_000;

type Step = ActionInstall['actions'][number];

/**
 * Installs in the background, each with some actions that are installed in turn. After a failure, the others continue.
 */
@Injectable()
export class ActionInstalls implements BeforeApplicationShutdown {
  readonly #jobs = new Map<string, Job>();

  constructor(private readonly installer: ActionInstaller) {}

  begin(chosen: readonly ChosenAction[]): ActionInstall {
    if (chosen.length === 0) throw new AppError('invalid_input', 'There is nothing to install.');
    for (const [id, job] of this.#jobs)
      if (this.#jobs.size >= keptInstalls && job.state !== 'running') this.#jobs.delete(id);
    if (this.#jobs.size >= keptInstalls)
      throw new AppError('limit_reached', 'Too many installs are running. Wait for one to finish.');
    const job = new Job(chosen);
    this.#jobs.set(job.id, job);
    void job.run(this.installer);
    return job.shown(0);
  }

  /** The install’s progress, after a wait of at most `waitMs` for new lines. Throws `not_found`. */
  async progress(
    id: string,
    after: number,
    { waitMs, signal }: { waitMs: number; signal: AbortSignal },
  ): Promise<ActionInstall> {
    const job = this.#known(id);
    await job.news(after, timeLimit(waitMs, signal));
    return job.shown(after);
  }

  cancel(id: string): void {
    this.#known(id).cancel();
  }

  async beforeApplicationShutdown(): Promise<void> {
    const jobs = [...this.#jobs.values()];
    for (const job of jobs) job.cancel();
    await Promise.all(jobs.map(({ ended }) => ended));
  }

  #known(id: string): Job {
    const job = this.#jobs.get(id);
    if (job) return job;
    throw new AppError('not_found', `There is no install ${id}.`);
  }
}

class Job {
  readonly id = randomUUID();
  readonly #steps: { step: Step; chosen: ChosenAction }[];
  readonly #lines: string[] = [];
  readonly #abort = new AbortController();
  readonly #waiting = new Set<() => void>();
  #state: ActionInstall['state'] = 'running';
  #ended = Promise.withResolvers<void>();

  constructor(chosen: readonly ChosenAction[]) {
    this.#steps = chosen.map((one) => {
      const name = one.found.manifest.name_for_model;
      return { step: { name, state: 'waiting', error: null }, chosen: one };
    });
  }

  get state(): ActionInstall['state'] {
    return this.#state;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Never rejects. */
  async run(installer: ActionInstaller): Promise<void> {
    for (const { step, chosen } of this.#steps) await this.#install(installer, step, chosen);
    const failed = this.#steps.some(({ step }) => step.state === 'failed');
    this.#state = failed ? 'failed' : 'done';
    this.#ended.resolve();
    this.#notify();
  }

  shown(after: number): ActionInstall {
    const lines = this.#lines.slice(after);
    const actions = this.#steps.map(({ step }) => ({ ...step }));
    return { id: this.id, state: this.#state, actions, lines, next: this.#lines.length };
  }

  cancel(): void {
    this.#abort.abort(new AppError('cancelled', 'The install was stopped.'));
  }

  /** Resolves when there are lines after this one, the install has ended, or `signal` aborts. */
  async news(after: number, signal: AbortSignal): Promise<void> {
    if (this.#lines.length > after || this.#state !== 'running' || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  async #install(installer: ActionInstaller, step: Step, chosen: ChosenAction): Promise<void> {
    const { name } = step;
    const onLine = (line: string): void => this.#add(`[${name}] ${line}`);
    step.state = 'running';
    onLine('Installing …');
    try {
      const options = { onLine, signal: this.#abort.signal };
      await installer.install(chosen.found, chosen.source, options);
      step.state = 'done';
      onLine('Installed.');
    } catch (error) {
      step.state = 'failed';
      step.error = errorFrom(error).message;
      onLine(step.error);
    }
  }

  #add(line: string): void {
    if (this.#lines.length < maxLines) this.#lines.push(line);
    this.#notify();
  }

  #notify(): void {
    for (const done of this.#waiting) done();
  }
}
