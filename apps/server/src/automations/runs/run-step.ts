import type { RunState } from '@belay/protocol';
import type { RunRecord } from '../run-record.js';

/** How a run ended. */
export interface RunEnd {
  state: Extract<RunState, 'done' | 'failed' | 'refused' | 'skipped' | 'cancelled'>;
  code: string;
  why: string;
  /** What failed, so that the same failure is recognized: a hash, or a word. */
  signature?: string | undefined;
  /** Why the next run of its lane needs a user. */
  stuck?: string | undefined;
  /** Millionths of a dollar, if they are not settled yet. */
  spent?: number;
  /** The session never began, so that it does not count as an attempt, and cost nothing. */
  unbegun?: boolean;
}

/**
 * What a step of a run comes to: the row changed, so that the next step follows; its end; or a time to look again, null
 * for when something happens.
 */
export type StepResult = 'again' | { end: RunEnd } | { at: Date | null };

/** The end of a run that was told to end: by a user, by a newer run, or because it waited for too long. */
export const endOfTold = ({ code, why }: Pick<RunRecord, 'code' | 'why'>): RunEnd => ({
  state: code === 'waits' ? 'failed' : 'cancelled',
  code: code ?? 'cancelled',
  why: why ?? 'It was cancelled.',
});

export const ownerGone = ({ automation: { name } }: RunRecord): RunEnd => ({
  state: 'refused',
  code: 'owner',
  why: `The owner of ${name} exists no longer, or may not begin sessions: save it again as another user.`,
});

export const lostRights: RunEnd = {
  state: 'refused',
  code: 'permission',
  why: 'Whoever asked for it may not do so any more, so nothing was sent.',
};
