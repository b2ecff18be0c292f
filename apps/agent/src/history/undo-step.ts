import { AppError } from '@belay/protocol';
import type { Git } from './git.js';
import type { Recorder } from './recorder.js';
import { pastStep, restoreTree, type Rewind } from './rewind.js';

/**
 * Undoes the changes of one commit and keeps those of later ones: merges its parent into the present state, with the
 * commit as their base. Throws `conflict` with the files that later changes touched; then nothing has changed.
 */
export async function undoStep(recorder: Recorder, git: Git, { commit, preview, call }: Rewind) {
  await recorder.stage();
  const undone = { commit, ...(await pastStep(git, commit)) };
  const before = await parentOf(git, commit);
  const tree = await mergedTree(git, {
    base: `${commit}^{tree}`,
    ours: await recorder.stagedTree(),
    theirs: `${before}^{tree}`,
  });
  const message = `Undid ${commit.slice(0, 12)}: ${undone.message}`;
  const restored = await restoreTree(recorder, git, { tree, preview, message, call });
  if (restored.files.length > 0) return { undone, ...restored };
  throw new AppError('conflict', 'The changes of this step are already gone: nothing to undo.');
}

async function parentOf(git: Git, commit: string): Promise<string> {
  const [, parent = ''] = (await git.run(['rev-list', '--parents', '-1', commit]))
    .trim()
    .split(' ');
  if (parent !== '') return parent;
  throw new AppError(
    'invalid_input',
    'There is no state before this step that could be restored. Rewind to a later one instead.',
  );
}

/** Git merges commits only, and finds their base by itself, so the three trees become commits that no branch has. */
async function mergedTree(
  git: Git,
  { base, ours, theirs }: { base: string; ours: string; theirs: string },
): Promise<string> {
  const commitOf = async (tree: string, parent?: string): Promise<string> => {
    const parents = parent === undefined ? [] : ['-p', parent];
    return (await git.run(['commit-tree', tree, ...parents, '-m', 'Undo'])).trim();
  };
  const from = await commitOf(base);
  const sides = [await commitOf(ours, from), await commitOf(theirs, from)];
  const merge = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ...sides];
  const { output, code } = await git.output(merge, { outcome: 1 });
  const [tree = '', ...conflicts] = output.toString().split('\0').filter(Boolean);
  if (code === 0) return tree;
  const names = [...new Set(conflicts)];
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  throw new AppError(
    'conflict',
    `Later changes touch the same lines of ${names.slice(0, 5).join(', ')}${more}. Undo the later steps first, or rewind.`,
  );
}
