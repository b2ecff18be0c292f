import { join } from 'node:path';
import { AppError, percentText, pluralText, pointsText } from '@belay/protocol';
import {
  compareRuns,
  describeData,
  preflightRun,
  regradeRun,
  rebuildReport,
  resumeRun,
  startRun,
  thisMachine,
  type FromMap,
  type NewRun,
  type Summary,
  type EvaluationOptions,
  type Trial,
  type Validity,
} from '@belay/evaluation';
import { createClient } from '@belay/client';
import { dataFolder, findServer, type Where } from '../connection.js';
import { EvalPlaces } from '../eval-places.js';
import { comparedValidity, scoreLine, validityLine, validitySentences } from '../eval-words.js';
import { labelsIn, type Limit } from '../options.js';
import { exitCodes } from '../outcome.js';
import { outputTo, progressBar, type LineOutput } from '../output.js';
import { printList } from '../print-list.js';

/** The limit of an agent’s files, which are held in memory. */
const maxAnswerBytes = 512 * 2 ** 20;

type Progress = { done: number; all: number };

interface EvalOptions
  extends
    Where,
    Omit<
      NewRun,
      'suite' | 'data' | 'tasks' | 'places' | 'out' | 'fromMap' | 'sandbox' | 'maxDollars'
    > {
  suiteData: string;
  tasks?: string;
  places?: string;
  sessionLabel?: string[];
  out?: string;
  fromMap?: string[];
  baseImage?: string;
  maxDollars?: Limit;
}

/** `belay eval run`: a suite with an agent. Returns the exit code: 0 when every trial has a verdict. */
export async function evalRun(suite: string, options: EvalOptions): Promise<number> {
  const { url, data, suiteData, tasks, fromMap, baseImage, maxDollars, ...rest } = options;
  const { places, sessionLabel, ...settings } = rest;
  const stamp = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const out = options.out ?? join('eval-results', `${suite}-${stamp}`);
  const request = {
    ...settings,
    suite,
    out,
    data: suiteData,
    tasks: tasks?.split(',').filter(Boolean),
    places: places?.split(',').filter(Boolean),
    sessionLabels: labelsIn(sessionLabel),
    fromMap: fromMap?.map(fromLine),
    sandbox: baseImage,
    maxDollars: maxDollars === 'none' ? undefined : maxDollars,
  };
  return interruptible(out, { url, data }, (runOptions) => startRun(request, runOptions));
}

export const evalResume = (
  out: string,
  { maxDollars: given, ...options }: Where & { maxDollars?: Limit },
): Promise<number> => {
  const maxDollars = given === 'none' ? null : given;
  return interruptible(out, options, (runOptions) => resumeRun(out, { ...runOptions, maxDollars }));
};

export const evalRegrade = (out: string, options: Where): Promise<number> =>
  interruptible(out, options, (runOptions) => regradeRun(out, runOptions));

export const evalPreflight = (out: string, options: Where): Promise<number> =>
  interruptible(out, options, (runOptions) => preflightRun(out, runOptions));

export function evalReport(out: string, { json }: { json?: boolean }): void {
  const summary = rebuildReport(out, { connect: () => serverAt({}) });
  if (json) outputTo(process.stdout).json(summary, 2);
  else printSummary(out, summary);
}

/** `belay eval data PATH…`: the suite that reads each path. */
export function evalData(paths: string[], options: { json?: boolean }): void {
  const found = paths.map((path) => ({ path, ...describeData(path) }));
  printList(found, options, {
    row: ({ path, suite, tasks, problem }) =>
      suite === null ? [path, '—', problem ?? ''] : [path, suite, pluralText(tasks, 'task')],
    empty: 'Name files or folders with the data of suites.',
  });
}

/** `belay eval compare A B`: compares B with A, task by task. */
export function evalCompare(a: string, b: string, { json }: { json?: boolean }): void {
  const output = outputTo(process.stdout);
  const found = compareRuns(a, b);
  if (json) return output.json(found, 2);
  const [low, high] = found.interval;
  output.line(`${found.tasks} tasks in both: A ${percentText(found.a)}, B ${percentText(found.b)}`);
  output.line(
    `B − A: ${pointsText(found.difference)} (95%: ${pointsText(low)} to ${pointsText(high)})`,
  );
  output.line(comparedValidity(found));
  output.line(
    `better ${found.better.length}, worse ${found.worse.length}; sign test p = ${found.p.toPrecision(2)}`,
  );
  if (found.edited > 0)
    output.line(`edited: ${found.edited} trials have changed since they were recorded`);
}

/**
 * Ctrl-C stops the containers, keeps the finished trials, and prints the command that resumes the run. So does the end
 * of the server that started the process, which closes their channel.
 */
async function interruptible(
  out: string,
  where: Where,
  work: (runOptions: EvaluationOptions & { cache: string }) => Promise<Summary>,
): Promise<number> {
  const progress = outputTo(process.stderr);
  const stop = new AbortController();
  const onSignal = () => stop.abort(new AppError('cancelled', 'It was interrupted.'));
  for (const name of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.once(name, onSignal);
  const connect = () => serverAt(where);
  const told = progressTo(progress);
  const places = new EvalPlaces({ connect, onNotice: told.onNotice });
  const runOptions = {
    signal: stop.signal,
    cache: join(dataFolder(), 'evaluation'),
    connect,
    openPlaces: places.open,
    ...told,
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
    await places.close();
    for (const name of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.off(name, onSignal);
  }
}

function serverAt(where: Where) {
  const address = findServer(where);
  return { client: createClient({ ...address, maxBytes: maxAnswerBytes }), url: address.url };
}

/** Prints a line for each trial, and notices. */
function progressTo(progress: LineOutput) {
  const line = ({ task, attempt, verdict, place }: Trial, { done, all }: Progress) =>
    `${progressBar(done / all)} ${done}/${all} ${task}${attempt > 1 ? ` (${attempt})` : ''}${
      place === undefined || place === thisMachine ? '' : ` on ${place}`
    }: ${verdict.outcome}${
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
  output.line(scoreLine(summary));
  output.line(
    `${summary.passed} passed, ${summary.failed} failed, ${summary.invalid} invalid of ${summary.trials.all} trials`,
  );
  if (summary.notAttempted > 0)
    output.line(
      `${summary.notAttempted} of ${summary.tasks} tasks were not attempted and count as 0`,
    );
  if (summary.places.some(({ name }) => name !== thisMachine))
    for (const { name, passed, trials } of summary.places)
      output.line(`on ${name}: ${passed} of ${pluralText(trials.length, 'trial')} passed`);
  for (const { label, name, passed, tasks, score } of summary.groups)
    output.line(
      `${label} ${name}: ${percentText(score)} (${passed} of ${tasks * summary.attempts})`,
    );
  if (summary.doubtful.length > 0)
    output.line(
      `doubtful: ${summary.doubtful.length} of ${summary.passed} passes (the report says why)`,
    );
  if (summary.edited.length > 0)
    output.line(
      `edited: ${summary.edited.length} of ${summary.trials.done} trials have changed since they were recorded (the report names them)`,
    );
  for (const [k, value] of Object.entries(summary.passAt))
    output.line(`${k}: ${percentText(value)}`);
  output.line(validityLine(summary, `belay eval preflight ${out}`));
  output.line(join(out, 'report.html'));
}

/** Parses `ubuntu:*=my/image` of `--from-map`. */
function fromLine(text: string): FromMap[number] {
  const at = text.lastIndexOf('=');
  if (at < 1)
    throw new AppError('invalid_input', `--from-map ${text} is not valid. Write it as NAME=IMAGE.`);
  return [text.slice(0, at), text.slice(at + 1)];
}
