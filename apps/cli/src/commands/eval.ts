import { join } from 'node:path';
import { AppError } from '@belay/protocol';
import {
  compareRuns,
  preflightRun,
  regradeRun,
  rebuildReport,
  resumeRun,
  startRun,
  type FromMap,
  type Summary,
  type EvaluationOptions,
  type Trial,
  type Validity,
} from '@belay/evaluation';
import { createClient } from '@belay/client';
import { dataFolder, findServer, type Where } from '../connection.js';
import {
  comparedValidity,
  percent,
  points,
  validityLine,
  validitySentences,
} from '../eval-words.js';
import { exitCodes } from '../outcome.js';
import { outputTo, type Output } from '../output.js';

/** What an agent left in its workspace is held in memory. */
const maxAnswerBytes = 512 * 2 ** 20;

type Progress = { done: number; all: number };

export interface EvalOptions extends Where {
  suiteData: string;
  agent: string;
  model?: string;
  tasks?: string;
  sample?: number;
  seed?: number;
  attempts?: number;
  concurrency?: number;
  out?: string;
  network?: 'none' | 'declared';
  fromMap?: string[];
  baseImage?: string;
  repos?: string;
  buildNetwork?: 'default' | 'none';
  timeoutMultiplier?: number;
  preflight?: boolean;
}

/** `belay eval run`: a suite with an agent. Returns the exit code: 0 when every trial has a verdict. */
export async function evalRun(suite: string, options: EvalOptions): Promise<number> {
  const stamp = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const out = options.out ?? join('eval-results', `${suite}-${stamp}`);
  return interruptible(out, options, async (runOptions) => {
    const { agent, model, sample, seed, attempts, concurrency, network } = options;
    return startRun(
      {
        suite,
        data: options.suiteData,
        agent,
        model,
        tasks: options.tasks?.split(',').filter(Boolean),
        sample,
        seed,
        attempts,
        concurrency,
        out,
        network,
        fromMap: options.fromMap?.map(fromLine),
        sandbox: options.baseImage,
        repos: options.repos,
        buildNetwork: options.buildNetwork,
        timeoutMultiplier: options.timeoutMultiplier,
        preflight: options.preflight,
      },
      runOptions,
    );
  });
}

export const evalResume = (out: string, options: Where): Promise<number> =>
  interruptible(out, options, (runOptions) => resumeRun(out, runOptions));

export const evalRegrade = (out: string, options: Where): Promise<number> =>
  interruptible(out, options, (runOptions) => regradeRun(out, runOptions));

export const evalPreflight = (out: string, options: Where): Promise<number> =>
  interruptible(out, options, (runOptions) => preflightRun(out, runOptions));

export function evalReport(out: string): void {
  printSummary(out, rebuildReport(out, { connect: () => serverAt({}) }));
}

/** `belay eval compare A B`: B against A, task by task. */
export function evalCompare(a: string, b: string, { json }: { json?: boolean }): void {
  const output = outputTo(process.stdout);
  const found = compareRuns(a, b);
  if (json) return output.json(found, 2);
  const [low, high] = found.interval;
  output.line(`${found.tasks} tasks in both: A ${percent(found.a)}, B ${percent(found.b)}`);
  output.line(`B − A: ${points(found.difference)} (95 %: ${points(low)} to ${points(high)})`);
  output.line(comparedValidity(found));
  output.line(
    `better ${found.better.length}, worse ${found.worse.length}; sign test p = ${found.p.toPrecision(2)}`,
  );
}

/** Ctrl-C stops the containers, keeps the finished trials, and prints the command that resumes the run. */
async function interruptible(
  out: string,
  where: Where,
  work: (runOptions: EvaluationOptions & { cache: string }) => Promise<Summary>,
): Promise<number> {
  const progress = outputTo(process.stderr);
  const stop = new AbortController();
  const onSignal = () => stop.abort(new AppError('cancelled', 'interrupted'));
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, onSignal);
  const runOptions = {
    signal: stop.signal,
    cache: join(dataFolder(), 'evaluation'),
    connect: () => serverAt(where),
    ...progressTo(progress),
  };
  try {
    const summary = await work(runOptions);
    printSummary(out, summary);
    return summary.trials.done === summary.trials.all ? 0 : exitCodes.failed;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    progress.line(`Interrupted. Resume with: belay eval resume ${out}`);
    return exitCodes.interrupted;
  } finally {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, onSignal);
  }
}

function serverAt(where: Where) {
  const address = findServer(where);
  return { client: createClient({ ...address, maxBytes: maxAnswerBytes }), url: address.url };
}

/** Prints a line for each trial, and notices. */
function progressTo(progress: Output) {
  const line = ({ task, attempt, verdict }: Trial, { done, all }: Progress) =>
    `${bar(done, all)} ${task}${attempt > 1 ? ` (${attempt})` : ''}: ${verdict.outcome}${
      verdict.outcome === 'pass' ? '' : ` — ${verdict.detail.split('\n')[0]?.slice(0, 120)}`
    }`;
  return {
    onTrial: (trial: Trial, at: Progress) => progress.line(line(trial, at)),
    onCheck: (trial: Trial, at: Progress) =>
      progress.line(`preflight ${line(trial, at)} (${trial.agent})`),
    onNotice: (sentence: string) => progress.line(sentence),
    onValidity: (found: Validity[], tasks: number) => {
      for (const sentence of validitySentences(found, tasks)) progress.line(sentence);
    },
  };
}

function printSummary(out: string, summary: Summary): void {
  const output = outputTo(process.stdout);
  const [low, high] = summary.interval;
  output.line(
    `${summary.suite} · ${summary.model ?? summary.agent}: ${percent(summary.score)} (95 %: ${percent(low)} to ${percent(high)})`,
  );
  output.line(
    `${summary.passed} passed, ${summary.failed} failed, ${summary.invalid} invalid of ${summary.trials.all} trials`,
  );
  if (summary.notAttempted > 0)
    output.line(
      `${summary.notAttempted} of ${summary.tasks} tasks were not attempted and count as 0`,
    );
  for (const { label, name, passed, tasks, score } of summary.groups)
    output.line(`${label} ${name}: ${percent(score)} (${passed} of ${tasks * summary.attempts})`);
  if (summary.doubtful.length > 0)
    output.line(
      `doubtful: ${summary.doubtful.length} of ${summary.passed} passes (the report says why)`,
    );
  for (const [k, value] of Object.entries(summary.passAt)) output.line(`${k}: ${percent(value)}`);
  output.line(validityLine(summary, `belay eval preflight ${out}`));
  output.line(join(out, 'report.html'));
}

function bar(done: number, all: number): string {
  const filled = Math.round((20 * done) / Math.max(1, all));
  return `[${'█'.repeat(filled)}${'·'.repeat(20 - filled)}] ${done}/${all}`;
}

/** `ubuntu:*=my/image` of `--from-map`. */
function fromLine(text: string): FromMap[number] {
  const at = text.lastIndexOf('=');
  if (at < 1)
    throw new AppError('invalid_input', `--from-map ${text} is not valid. Write it as NAME=IMAGE.`);
  return [text.slice(0, at), text.slice(at + 1)];
}
