import { isForgeEvent } from './run-subject.js';
import type { Selectable } from 'kysely';
import type { AutomationLaneTable } from '../../storage/automation-tables.js';
import type { RunEnd } from './run-step.js';
import type { RunRecord } from '../run-record.js';

const keptTrees = 20;
const keptFailures = 5;

type Lane = Pick<Selectable<AutomationLaneTable>, 'attempts' | 'stuck' | 'trees' | 'failures'>;

/** The lane after a run: whether the next one needs a user, and what it must not repeat. */
export function laneAfter(lane: Lane, run: RunRecord, end: RunEnd): Lane {
  const trees = JSON.parse(lane.trees) as string[];
  const failures = JSON.parse(lane.failures) as string[];
  const attempts = end.unbegun ? Math.max(0, lane.attempts - 1) : lane.attempts;
  if (end.state === 'failed') {
    const { signature } = end;
    if (signature === undefined) return { ...lane, attempts };
    const stuck = failures.at(-1) === signature ? twice(end) : lane.stuck;
    const all = [...failures, signature].slice(-keptFailures);
    return { ...lane, attempts, stuck, failures: JSON.stringify(all) };
  }
  if (end.state !== 'done') return { ...lane, attempts };
  const tree = run.result?.tree ?? null;
  const isKnown = tree !== null && trees.includes(tree);
  const seen = isKnown
    ? 'It made the same files as an earlier run: it goes in circles.'
    : lane.stuck;
  return {
    // What comes from no issue or pull request comes again forever: only failures in a row count.
    attempts: end.stuck !== undefined || isForgeEvent(run.occurrence) ? attempts : 0,
    stuck: end.stuck ?? seen,
    trees: JSON.stringify([...trees, ...(tree === null ? [] : [tree])].slice(-keptTrees)),
    failures: '[]',
  };
}

const twice = ({ why }: RunEnd): string => `It failed in the same way twice in a row. ${why}`;
