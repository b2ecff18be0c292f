import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import {
  AppError,
  errorFrom,
  ignoreError,
  type EvaluationSummary,
  type MadeToken,
  type NewEvaluation,
} from '@belay/protocol';
import type { OnLead } from '../storage/on-lead.js';
import { CallerEnds } from '../access/caller-ends.js';
import type { Caller } from '../access/caller.js';
import { TokensStore } from '../access/tokens.store.js';
import { Config } from '../config.js';
import { BenchmarkFolder, type FoundData } from './benchmark-folder.js';
import { EvaluationCommand, type EvaluationProcess } from './evaluation-command.js';
import { EvaluationService } from './evaluation.service.js';
import { failureReason } from './failure-reason.js';

/** How long the server waits for its run to end; at its own end it has little more time itself. */
const endTimeoutMs = 4_000;

interface StartedRun {
  id: string;
  process: EvaluationProcess;
  /** Resolves once its end is on the board. Never rejects. */
  ended: Promise<void>;
  /** Why it was told to end; undefined until then. */
  stopped?: string;
}

/**
 * The run that this server has started, at most one at a time: a process of `belay eval`, which reports to the board
 * like any other. It has a token of its own, which ends with it, and it ends with its token.
 */
@Injectable()
export class StartedRuns implements OnLead, BeforeApplicationShutdown {
  #run: StartedRun | undefined;
  /** Whether a run is about to start. */
  #starting = false;
  #closing = false;

  constructor(
    private readonly config: Config,
    private readonly tokens: TokensStore,
    private readonly ends: CallerEnds,
    private readonly board: EvaluationService,
    private readonly folder: BenchmarkFolder,
    private readonly command: EvaluationCommand,
  ) {}

  /** A run whose server was killed has ended with it. */
  async onLead(): Promise<void> {
    await this.board.endStarted(serverEnded);
  }

  /** Throws `conflict` while another run that this server started is in progress. */
  async start(wanted: NewEvaluation, caller: Caller): Promise<EvaluationSummary> {
    if (this.#starting) throw inProgress();
    this.#starting = true;
    try {
      await this.#assertFree();
      return await this.#start(wanted, await this.folder.find(wanted.data), caller);
    } finally {
      this.#starting = false;
    }
  }

  /**
   * Like Ctrl-C in a terminal: a second stop ends the process at once. Throws `conflict` for a run that is not in
   * progress, or not one of this server.
   */
  async stop(id: string, { label }: Pick<Caller, 'label'>): Promise<void> {
    const { summary } = await this.board.get(id);
    const run = this.#run;
    if (run?.id === id && run.stopped !== undefined) return run.process.interrupt();
    if (run?.id === id) return interrupt(run, `${label} stopped it.`);
    throw new AppError(
      'conflict',
      summary.state === 'running'
        ? `This run was not started by the server: press Ctrl-C in its terminal on ${summary.host}.`
        : 'This run is not in progress.',
    );
  }

  /** Throws `conflict` for a run of this server that is in progress. */
  assertEnded(id: string): void {
    if (this.#run?.id === id)
      throw new AppError('conflict', 'This run is in progress. Stop it first.');
  }

  /** The run is interrupted like by Ctrl-C; what it does not finish in time, it finishes without this server. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#closing = true;
    const run = this.#run;
    if (!run) return;
    interrupt(run, serverEnded);
    await endedSoon(run);
  }

  /** A run that is over on the board may still be removing its containers. */
  async #assertFree(): Promise<void> {
    const run = this.#run;
    if (!run) return;
    const { summary } = await this.board.get(run.id);
    if (summary.state === 'running' || !(await endedSoon(run))) throw inProgress();
  }

  async #start(
    wanted: NewEvaluation,
    found: FoundData,
    caller: Caller,
  ): Promise<EvaluationSummary> {
    const { agent, model, attempts, ...chosen } = wanted;
    const id = randomBytes(8).toString('hex');
    const folder = join(this.config.data, 'benchmark-results', `${found.suite}-${id}`);
    const token = await this.tokens.create(
      { label: `Benchmark run ${id}`, ...rights },
      caller,
      // A run never outlives its server, so neither does its token.
      { stored: false },
    );
    try {
      const summary = await this.board.expect(id, {
        suite: found.suite,
        agent,
        model,
        attempts,
        folder,
        host: hostname(),
        created: new Date().toISOString(),
        tasks: Math.min(found.tasks, chosen.sample ?? Infinity),
        start: { ...chosen, by: caller.label },
      });
      const options = { id, folder, image: this.config.image };
      this.#begin(id, token, runArguments(wanted, found, options));
      return summary;
    } catch (error) {
      await this.#revoke(token.id);
      await this.board.end(id, { state: 'failed', reason: errorFrom(error).message });
      throw error;
    }
  }

  #begin(id: string, { id: tokenId, token }: MadeToken, args: readonly string[]): void {
    const caller = this.tokens.callerOf(token);
    if (!caller || this.#closing)
      throw new AppError('unavailable', 'The server is about to end, or your rights have ended.');
    const running = this.command.start(args, token);
    const run: StartedRun = { id, process: running, ended: Promise.resolve() };
    const off = this.ends.on(caller, () => interrupt(run, 'Its token was revoked.'));
    run.ended = running.ended.then(async (end) => {
      off();
      await this.#revoke(tokenId);
      const how =
        run.stopped === undefined
          ? ({ state: 'failed', reason: failureReason(end) } as const)
          : ({ state: 'interrupted', reason: run.stopped } as const);
      await this.board.end(id, how).catch(ignoreError('the next start of the server does it'));
      this.#run = undefined;
    });
    this.#run = run;
  }

  /** It may be revoked already. */
  #revoke(token: string): Promise<void> {
    return this.tokens.revoke(token).catch(ignoreError('it is void with this server'));
  }
}

/** A run reports to the board, and its trials are sessions. */
const rights = { scope: 'operate', sessions: 'all', expires: null } as const;

/** Each value is part of its option, so that none can be read as another option. */
const runArguments = (
  { agent, model, sample, attempts, concurrency, maxDollars, preflight }: NewEvaluation,
  { suite, path }: FoundData,
  { id, folder, image }: { id: string; folder: string; image: string },
): string[] => [
  'run',
  suite,
  `--data=${path}`,
  `--agent=${agent}`,
  ...(model === null ? [] : [`--model=${model}`]),
  ...(sample === null ? [] : [`--sample=${sample}`]),
  `--attempts=${attempts}`,
  `--concurrency=${concurrency}`,
  ...(maxDollars === null ? [] : [`--max-dollars=${maxDollars}`]),
  ...(preflight ? ['--preflight'] : []),
  `--base-image=${image}`,
  `--board-id=${id}`,
  `--out=${folder}`,
];

function interrupt(run: StartedRun, reason: string): void {
  if (run.stopped !== undefined) return;
  run.stopped = reason;
  run.process.interrupt();
}

/** Whether the run has ended, within a few seconds. */
async function endedSoon({ ended }: StartedRun): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), endTimeoutMs);
  const isOver = await Promise.race([ended.then(() => true), late]);
  clearTimeout(timer);
  return isOver;
}

const serverEnded = 'The server ended while it was in progress.';

const inProgress = (): AppError =>
  new AppError(
    'conflict',
    'A run that this server started is in progress. Wait until it has ended, or stop it.',
  );
