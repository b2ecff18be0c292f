import type { AgentTrace, ChangeStatement } from '@belay/protocol';
import { canonicalDigest } from './canonical-json.js';
import { DoesNotHold } from './does-not-hold.js';

/** Throws `DoesNotHold` unless a trace is the one that a statement has the digest of, about the same commit. */
export function assertTraceMatches(
  { vcs, ...content }: AgentTrace,
  { subject: [{ digest }], predicate: { trace } }: ChangeStatement,
): void {
  if (!trace) throw new DoesNotHold('The statement has no trace of its lines, and this is one.');
  if (vcs.revision !== digest.gitCommit)
    throw new DoesNotHold(
      `The trace is about commit ${vcs.revision.slice(0, 12)}, the statement about ${digest.gitCommit.slice(0, 12)}.`,
    );
  if (canonicalDigest(content) !== trace.sha256)
    throw new DoesNotHold('The trace is not the one that the statement names: it was changed.');
}
