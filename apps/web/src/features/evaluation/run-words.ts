import {
  dollarsText,
  evaluationSilenceMs,
  percentText,
  pluralText,
  type EvaluationSummary,
  type TrialOutcome,
  type TrialState,
} from '@belay/protocol';

/**
 * Whether a run counts as running but has not reported within `evaluationSilenceMs`. While it
 * starts, the server itself watches its process.
 */
export const isSilent = ({ state, phase, reported }: EvaluationSummary, now: number): boolean =>
  state === 'running' && phase !== 'starting' && now - Date.parse(reported) > evaluationSilenceMs;

/** Who started a run where, and with what. */
export function startWords({ start, attempts, host }: EvaluationSummary): string {
  if (!start) return `Started in a terminal on ${host}.`;
  const { by, data, sample, concurrency, maxDollars, preflight } = start;
  const parts = [
    data,
    sample === null ? 'all tasks' : `${pluralText(sample, 'task')} at random`,
    ...(attempts > 1 ? [`${attempts} attempts each`] : []),
    `at most ${pluralText(concurrency, 'trial')} at a time`,
    ...(maxDollars === null ? [] : [`at most ${dollarsText(maxDollars)}`]),
    ...(preflight ? ['with preflight'] : []),
  ];
  return `Started by ${by} on this server: ${parts.join(', ')}.`;
}

export const trialCount = ({ tasks, attempts }: EvaluationSummary): number => tasks * attempts;

/**
 * Estimated seconds until the last verdict, at the pace of the current process; null when there is
 * no basis for an estimate.
 */
export function secondsLeft(run: EvaluationSummary, now: number): number | null {
  const made = run.done - run.doneBefore;
  if (run.state !== 'running' || !run.begun || made < 1 || isSilent(run, now)) return null;
  const pace = (now - Date.parse(run.begun)) / 1_000 / made;
  return Math.max(0, pace * (trialCount(run) - run.done));
}

/** The confidence interval of a score. */
export const intervalText = ([low, high]: [number, number]): string =>
  `${percentText(low)} to ${percentText(high)}`;

/** How many tasks are valid, in the wording of the report. */
export function validityWords({ validity, tasks }: EvaluationSummary): string {
  if (!validity) return 'not checked';
  const good = validity.checked - validity.flagged.length;
  const unchecked = tasks - validity.checked;
  return `${good} of ${tasks} valid${unchecked > 0 ? `, ${unchecked} not checked` : ''}`;
}

/** The outcome of a trial, or its state while it has none. */
export type TrialStatus = TrialOutcome | Exclude<TrialState, 'done'>;

export const trialWords: Record<TrialStatus, string> = {
  pass: 'passed',
  fail: 'failed',
  invalid: 'invalid',
  queued: 'queued',
  building: 'building',
  working: 'agent working',
  verifying: 'verifying',
};

/** A cause as readable text. */
export const causeWords = (cause: string): string => cause.replaceAll('_', ' ');
