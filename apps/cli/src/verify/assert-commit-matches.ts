import { DoesNotHold } from '@belay/proof';
import type { ChangeStatement } from '@belay/protocol';
import type { ReadCommit } from './commit-reader.js';

/** Throws `DoesNotHold` unless the commit is the one that a statement is about, as git has it. */
export function assertCommitMatches(
  { commit, tree, parents, changes, evidence }: ReadCommit,
  { subject: [{ digest }], predicate: { change, record } }: ChangeStatement,
): void {
  const about = digest.gitCommit;
  const [short, other] = [commit.slice(0, 12), about.slice(0, 12)];
  if (about !== commit)
    throw new DoesNotHold(
      `The statement is about commit ${other}, and this is ${short}: something was pushed after it.`,
    );
  if (tree !== change.tree.gitTree)
    throw new DoesNotHold(`The commit ${short} has another tree than the statement says.`);
  if (parents.length !== 1 || parents[0] !== change.parent.gitCommit)
    throw new DoesNotHold(`The commit ${short} has another parent than the statement says.`);
  if (changes !== change.changes.sha256)
    throw new DoesNotHold(`The commit ${short} changes other files than the statement says.`);
  if (evidence.at(-1) !== record.sha256)
    throw new DoesNotHold(
      `The commit ${short} names another record than the one in the statement.`,
    );
}
