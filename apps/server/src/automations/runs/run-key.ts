import { isForgeTrigger, type AutomationDefinition, type Occurrence } from '@belay/protocol';
import { nearKeys } from './near-keys.js';

/**
 * What GitLab tells of one review may be so far apart: it does not say which comments belong together. A run of it begins
 * after that, when all of it is there to be read.
 */
const reviewSeconds = 10;

/** By which key an automation’s run of something is known, which keys mean the same, and how long it waits for the rest. */
export interface RunKey {
  readonly key: string;
  readonly same: readonly string[];
  readonly waitMs: number;
}

/** A review and its comments begin one run, whichever comes first. A command counts as part of it for whoever reads reviews. */
export function runKeyOf(
  { on }: Pick<AutomationDefinition, 'on'>,
  { event, key, review }: Occurrence,
): RunKey {
  const wanted: readonly string[] = isForgeTrigger(on) ? [on.event].flat() : [];
  const isCommand = event === 'pull.command';
  const readsReviews = wanted.includes('pull.reviewed') || wanted.includes('pull.commented');
  if (review === undefined || (isCommand && !readsReviews)) return { key, same: [key], waitMs: 0 };
  const same = nearKeys(review, reviewSeconds);
  return { key: review, same, waitMs: same.length > 1 ? reviewSeconds * 1_000 : 0 };
}
