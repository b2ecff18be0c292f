import type { AutomationDefinition, RerunReport, RunReport, runOutcome } from '@belay/protocol';
import { AppError, errorFrom } from '@belay/protocol';
import type { z } from 'zod';
import { isUnchanged } from '../../publishing/publish-preparation.js';
import { RunRefusal, type PublishedResult } from '../run-record.js';

/** What was published of a run, with the outcome and a sentence about it. */
export interface PublishedRun extends PublishedResult {
  outcome: z.infer<typeof runOutcome>;
  why: string;
}

/** The end of a run of which nothing was published. */
export type UnpublishedEnd = Pick<PublishedRun, 'outcome' | 'why'> & {
  verdict?: PublishedResult['verdict'];
};

/** Ends the publishing of a run, which goes on without. */
export class Unpublished extends AppError {
  constructor(readonly end: UnpublishedEnd) {
    super('conflict', end.why);
  }
}

export const withoutChanges = (report: RunReport | null): UnpublishedEnd =>
  report?.noChange
    ? { outcome: 'answered', why: 'It changed nothing, and says why.' }
    : { outcome: 'nothing', why: 'It changed no file.' };

export const movedBranch = (branch: string): RunRefusal =>
  new RunRefusal(
    'skipped',
    'moved',
    `The branch ${branch} has moved since the run began, so nothing was pushed to it.`,
  );

/** A conflict with what is on a branch of others means that it has moved. */
export const movedBy = (error: unknown, branch: string): unknown =>
  error instanceof AppError &&
  error.code === 'conflict' &&
  !(error instanceof Unpublished) &&
  !isUnchanged(error)
    ? movedBranch(branch)
    : error;

/** What an error says about a run; undefined for one that the run fails with. */
export function unpublishedBy(
  error: unknown,
  report: RunReport | null,
): UnpublishedEnd | undefined {
  if (error instanceof Unpublished) return error.end;
  if (isUnchanged(error)) return withoutChanges(report);
  if (!(error instanceof AppError) || error.code !== 'conflict') return undefined;
  return { outcome: 'stuck', why: `It was not published. ${error.message}` };
}

/** The verdict on the reproduction, or else on the check; null if nothing was run again. */
export function reportedVerdict(reruns: RerunReport | null): PublishedResult['verdict'] {
  const claims = reruns?.claims ?? [];
  const claim = claims.find((one) => one.claim === 'reproduction') ?? claims[0];
  return claim?.verdict ?? null;
}

/** Throws unless a reproduction is confirmed, where that is required. */
export function assertProven(
  wanted: AutomationDefinition['proof']['reproduction'],
  reruns: RerunReport | null,
): void {
  if (wanted !== 'required') return;
  const claim = reruns?.claims.find((one) => one.claim === 'reproduction');
  if (claim?.verdict === 'confirmed') return;
  throw new Unpublished({
    outcome: 'nothing',
    verdict: claim?.verdict ?? null,
    why: `Nothing was published: a confirmed reproduction is required. ${claim ? `It is ${claim.verdict}: ${claim.why}` : 'None was run.'}`,
  });
}

/** Whether the same request may succeed later. */
export const isPassing = (error: unknown): boolean =>
  !(error instanceof RunRefusal) && passingCodes.has(errorFrom(error).code);

/** The codes of errors after which the same may succeed later; `internal` is of whatever was not expected. */
export const passingCodes: ReadonlySet<string> = new Set([
  'unavailable',
  'timeout',
  'limit_reached',
  'disk_full',
  'internal',
]);
