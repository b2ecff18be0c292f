import { setTimeout } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import {
  AppError,
  endedRunStates,
  errorFrom,
  ignoreError,
  type SessionSummary,
} from '@belay/protocol';
import type { OnLead } from '../../storage/on-lead.js';
import { EventLog } from '../../logs/event-log.js';
import { Clock } from '../clock.js';
import { isPassing } from '../out/published-run.js';
import { RunEnds } from './run-ends.js';
import { RunIntake } from './run-intake.js';
import { RunSteps } from './run-steps.js';
import { RunsStore, type StoredRun } from './runs.store.js';

const firstRetryMs = 5_000;
const longestRetryMs = 10 * 60_000;
/** After so long, what is in the way of a step is taken to stay. */
const mostTroubleMs = 60 * 60_000;

interface Trouble {
  /** The state and code in which it is; another one is tried at once. */
  state: string;
  since: Date;
  until: Date;
  tries: number;
}

/**
 * Takes every unfinished run from step to step: when it is new, when its session changes, when its time has come, and when
 * another run may have made way for it. All that it knows is in the rows; a new server goes on from them.
 */
@Injectable()
export class RunLoop implements OnLead, OnModuleDestroy {
  readonly #logger = new Logger(RunLoop.name);
  /** The runs that are being taken on, and those of them that must be looked at again. */
  readonly #busy = new Map<string, Promise<void>>();
  readonly #again = new Set<string>();
  readonly #timers = new Map<string, () => void>();
  readonly #troubles = new Map<string, Trouble>();
  /** The sessions at work, with the run of each and what was last seen of it. */
  readonly #sessions = new Map<string, { run: string; seen: string }>();
  readonly #decided = new Map<string, () => void>();
  readonly #ends: (() => void)[] = [];
  #look: Promise<void> | undefined;
  #lookAgain = false;
  #closing = false;

  constructor(
    private readonly runs: RunsStore,
    private readonly steps: RunSteps,
    private readonly ends: RunEnds,
    private readonly intake: RunIntake,
    private readonly log: EventLog,
    private readonly clock: Clock,
  ) {}

  onLead(): void {
    this.#ends.push(
      this.log.subscribeAll((session, _, summary) => this.#follow(session, summary)),
      this.intake.onTaken(() => this.wake()),
    );
    this.wake();
  }

  /** Steps that are under way end by themselves, or are repeated by the next server. */
  async onModuleDestroy(): Promise<void> {
    this.#closing = true;
    for (const end of [...this.#ends, ...this.#timers.values(), ...this.#decided.values()]) end();
    this.#timers.clear();
    const limit = new AbortController();
    const steps = Promise.allSettled([this.#look, ...this.#busy.values()]);
    const signal = limit.signal;
    const late = setTimeout(closeTimeoutMs, undefined, { ref: false, signal }).catch(
      ignoreError('the steps ended before'),
    );
    await Promise.race([steps, late]);
    limit.abort();
  }

  /** How many runs wait for a time. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Looks at all unfinished runs. */
  wake(): void {
    if (this.#closing) return;
    this.#lookAgain = true;
    this.#look ??= this.#lookAtAll().finally(() => (this.#look = undefined));
  }

  /** Resolves when something was decided about a new run, or could not be. */
  async decided(run: string): Promise<void> {
    if (this.#closing) return;
    const decision = new Promise<void>((resolve) => this.#decided.set(run, resolve));
    this.#advance(run);
    await decision;
    this.#decided.delete(run);
  }

  async #lookAtAll(): Promise<void> {
    while (this.#lookAgain && !this.#closing) {
      this.#lookAgain = false;
      try {
        for (const { id } of await this.runs.unfinished()) this.#advance(id);
      } catch (error) {
        this.#logger.error(error);
        this.#at('', new Date(this.clock.now().getTime() + firstRetryMs), () => this.wake());
      }
    }
  }

  #follow(session: string, summary: SessionSummary): void {
    const known = this.#sessions.get(session);
    const seen = seenOf(summary);
    if (!known || known.seen === seen) return;
    known.seen = seen;
    this.#advance(known.run);
  }

  #advance(id: string): void {
    if (this.#closing) return;
    this.#again.add(id);
    if (this.#busy.has(id)) return;
    const work = this.#goOn(id).finally(() => {
      this.#busy.delete(id);
      if (this.#again.has(id)) this.#advance(id);
    });
    this.#busy.set(id, work);
  }

  /** Never rejects. */
  async #goOn(id: string): Promise<void> {
    let changed = false;
    while (this.#again.delete(id) && !this.#closing) {
      const run = await this.runs.find(id).catch((error: unknown) => {
        this.#retry(id, { state: '', error });
      });
      if (!run) break;
      if (endedRunStates.includes(run.state)) {
        this.#forget(run);
        break;
      }
      if (this.#waits(run)) break;
      if (await this.#step(run)) {
        changed = true;
        this.#again.add(id);
      }
      if (run.state === 'pending') this.#decided.get(id)?.();
    }
    this.#decided.get(id)?.();
    // It may have made way for another one, or have told one to end.
    if (changed) this.wake();
  }

  /** Whether a step failed, and is to be tried again later: what happens elsewhere makes it no earlier. */
  #waits(run: StoredRun): boolean {
    const trouble = this.#troubles.get(run.id);
    return trouble?.state === stateOf(run) && trouble.until > this.clock.now();
  }

  /** Whether something changed. */
  async #step(run: StoredRun): Promise<boolean> {
    const { id, session } = run;
    this.#timers.get(id)?.();
    this.#timers.delete(id);
    if (session !== null && !this.#sessions.has(session))
      this.#sessions.set(session, { run: id, seen: '' });
    try {
      const result = await this.steps.next(run);
      this.#troubles.delete(id);
      if (result === 'again') return true;
      if ('end' in result) return await this.ends.end(run, result.end);
      if (result.at) this.#at(id, result.at, () => this.#advance(id));
      return false;
    } catch (error) {
      return this.#trouble(run, error);
    }
  }

  async #trouble(run: StoredRun, error: unknown): Promise<boolean> {
    if (this.#closing) return false;
    const state = stateOf(run);
    if (isPassing(error) && this.#retry(run.id, { state, error })) return false;
    const why = error instanceof AppError ? error.message : 'The server has an error: see its log.';
    const ended = this.ends.end(run, { state: 'failed', code: codeOf(run), why });
    return ended.catch((failure: unknown) => {
      this.#retry(run.id, { state, error: failure });
      return false;
    });
  }

  /** Tries the step again later, ever more rarely; false when that has gone on for too long. */
  #retry(id: string, { state, error }: { state: string; error: unknown }): boolean {
    if (this.#closing) return true;
    const now = this.clock.now();
    const known = this.#troubles.get(id);
    const { since, tries } = known?.state === state ? known : { since: now, tries: 0 };
    if (tries === 0 || !(error instanceof AppError)) this.#logger.warn(error);
    if (now.getTime() - since.getTime() > mostTroubleMs) return false;
    const until = new Date(now.getTime() + delayOf(error, tries));
    this.#troubles.set(id, { state, since, until, tries: tries + 1 });
    this.#at(id, until, () => this.#advance(id));
    return true;
  }

  #at(id: string, time: Date, work: () => void): void {
    if (this.#closing) return;
    this.#timers.get(id)?.();
    this.#timers.set(
      id,
      this.clock.at(time, () => {
        this.#timers.delete(id);
        work();
      }),
    );
  }

  #forget({ id, session }: StoredRun): void {
    this.#timers.get(id)?.();
    this.#timers.delete(id);
    this.#troubles.delete(id);
    if (session !== null) this.#sessions.delete(session);
    this.steps.forget(id);
  }
}

const closeTimeoutMs = 5_000;

/** As long as the host asks for, or ever longer. */
function delayOf(error: unknown, tries: number): number {
  const asked = errorFrom(error).details?.['retryAfterMs'];
  if (typeof asked === 'number') return Math.min(Math.max(asked, 1_000), mostTroubleMs);
  return Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(tries, 20));
}

const stateOf = ({ state, code }: StoredRun): string => `${state} ${code}`;

const codeOf = ({ state }: StoredRun): string => (state === 'starting' ? 'not-begun' : 'trouble');

/** What of a session a run depends on. */
const seenOf = ({ state, check, modelError, attention, updated }: SessionSummary): string =>
  JSON.stringify([
    state,
    check?.state,
    attention,
    modelError?.retryAt,
    // While it waits, each sign of its user begins the time anew.
    state === 'running' ? null : updated,
  ]);
