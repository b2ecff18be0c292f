import { pluralText, type AutomationDefinition, type SessionSummary } from '@belay/protocol';
import type { PublishedResult } from '../run-record.js';

/** What came of a run, before anything of it is sent. */
export interface Outcome {
  code: string;
  why: string;
}

/** The codes of runs that are done; with any other code, a run failed. */
export const doneCodes: ReadonlySet<string> = new Set([
  'published',
  'speculative',
  'answered',
  'nothing',
  'stuck',
]);

/** Why nothing of a session is published: an end says nothing about success, and a check has to pass. */
export function sessionFailureOf({ state, reason, check }: SessionSummary): Outcome | undefined {
  if (state === 'limited')
    return { code: 'budget', why: `Its session reached a limit. ${reason ?? ''}`.trim() };
  if (state !== 'finished')
    return { code: 'session', why: `Its session failed. ${reason ?? ''}`.trim() };
  if (check === null) return undefined;
  if (check.state !== 'ended')
    return { code: 'check-not-run', why: `The check was not run. ${check.reason ?? ''}`.trim() };
  if (check.exitCode === 0) return undefined;
  return {
    code: 'check',
    why: `The check “${check.command.slice(0, 200)}” ended with the exit code ${check.exitCode}.`,
  };
}

/** Whether something comes out as files, so that a run without changed files is a run for nothing. */
export const meansToChange = ({ out }: Pick<AutomationDefinition, 'out'>): boolean =>
  out.pullRequest !== undefined || out.push !== undefined || Object.keys(out).length === 0;

/** Whether the next run needs a user, because this one changed nothing. */
export const isWithoutChange = (
  definition: AutomationDefinition,
  { changedFiles }: Pick<PublishedResult, 'changedFiles'>,
): boolean => changedFiles === 0 && definition.lane.stopWhenNoChange && meansToChange(definition);

/** What came of a run that publishes nothing. */
export function outcomeOfRun(
  definition: AutomationDefinition,
  { changedFiles }: PublishedResult,
): Outcome {
  if (isWithoutChange(definition, { changedFiles }))
    return { code: 'stuck', why: 'It changed no file: the next run needs a user.' };
  if (changedFiles === 0) return { code: 'nothing', why: 'It changed no file.' };
  const files = pluralText(changedFiles, 'file');
  return { code: 'nothing', why: `It changed ${files}. Its automation publishes nothing.` };
}
