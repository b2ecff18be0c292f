import { addAbortSignal } from 'node:stream';
import type { PrivateRepository } from '@belay/host';
import { AppError, errorFrom, type TraceContributor } from '@belay/protocol';
import type { Exports } from '../../sessions/exports.js';
import { CommitBuilder } from '../commit-builder.js';
import { wholePatch } from '../session-patch.js';
import type { TracedStep } from './traced-steps.js';

/** Who made the lines of a change. */
export interface MadeLines {
  attribution: 'session' | 'steps' | 'unknown';
  why: string | null;
  /** The end of the chain of commits, one for each contributor in turn; null if it is not needed. */
  head: string | null;
  contributors: ReadonlyMap<string, TraceContributor>;
  /** Of all lines that no commit of the chain brought in. */
  rest: TraceContributor;
}

/** A change that is traced, in a repository of its own. */
export interface TracedTrees {
  repository: PrivateRepository;
  /** The commit that the session began from. */
  start: string;
  /** What is published. */
  tree: string;
}

/** Each takes a patch from the sandbox. */
const maxSteps = 50;
const date = '2000-01-01T00:00:00.000Z';
const rest: TraceContributor = { type: 'unknown' };

/**
 * Repeats the steps of a session’s history as commits on its start. One contributor alone needs none of them. Throws
 * only for the signal; where the steps cannot be read, all lines are `unknown`, with the reason.
 */
export async function stepCommits(
  steps: readonly TracedStep[],
  { repository, start, tree }: TracedTrees,
  { session, exports, signal }: { session: string; exports: Exports; signal: AbortSignal },
): Promise<MadeLines> {
  const contributors = new Map<string, TraceContributor>();
  const [only] = steps;
  const without = { head: null, contributors };
  const unknown = (why: string): MadeLines => ({ attribution: 'unknown', why, rest, ...without });
  if (!only) return unknown('The log does not have all steps of its history.');
  if (steps.length === 1)
    return { attribution: 'session', why: null, rest: only.contributor, ...without };
  if (steps.length > maxSteps)
    return unknown(`Its contributors took turns more than ${maxSteps} times.`);
  const builder = new CommitBuilder(repository, signal);
  const commit = (of: string, parent: string | null): Promise<string> =>
    builder.commit({ tree: of, parent, message: 'Step', author: null, date });
  try {
    let head = await commit(await builder.treeOf(start), null);
    for (const { from, to, contributor } of steps) {
      const span = { format: 'patch', from, commit: to } as const;
      const stream = await exports.open(session, span, { wake: false });
      const patch = await wholePatch(addAbortSignal(signal, stream));
      head = await commit(await builder.apply(head, patch), head);
      contributors.set(head, contributor);
    }
    head = await commit(tree, head);
    return { attribution: 'steps', why: null, head, contributors, rest };
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error;
    return { ...unknown(errorFrom(error).message), contributors: new Map() };
  }
}
