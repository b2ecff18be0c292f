import { excerpt, oneLine, visibleText } from '@belay/protocol';
import { changeArguments, parseChanges, type Change } from './parse-changes.js';
import type { Git } from './git.js';
import type { Recorded, Recorder } from './recorder.js';

export interface Rewind {
  /** The full id of the commit whose files are restored. */
  commit: string;
  preview: boolean;
  call: string;
}

/** An earlier step, as people know it. */
interface PastStep {
  time: string;
  message: string;
}

interface Restored {
  files: Pick<Change, 'path' | 'status'>[];
  commit: string | null;
  recorded: Recorded | null;
}

/** Restores recorded files; ignored files stay. The state before is a commit too, so nothing is lost. */
export async function rewind(
  recorder: Recorder,
  git: Git,
  { commit, preview, call }: Rewind,
): Promise<Restored & { to: PastStep }> {
  await recorder.stage();
  const to = await pastStep(git, commit);
  const message = `Rewound to ${commit.slice(0, 12)}: ${to.message}`;
  return { to, ...(await restoreTree(recorder, git, { tree: commit, preview, message, call })) };
}

/** Makes a tree the state of the staged workspace, as a step of its own. */
export async function restoreTree(
  recorder: Recorder,
  git: Git,
  { tree, preview, ...step }: { tree: string; preview: boolean; message: string; call: string },
): Promise<Restored> {
  const args = ['diff-index', '--cached', '-R', '--no-renames', ...changeArguments, tree];
  const changes = parseChanges(await git.run(args));
  const files = changes.map(({ path, status }) => ({ path, status }));
  if (preview) return { files, commit: null, recorded: null };
  if (files.length === 0) return { files, commit: await recorder.head(), recorded: null };
  await git.run(['read-tree', '--reset', '-u', tree]);
  const recorded = await recorder.commitTree(await recorder.stagedTree(), step);
  return { files, commit: recorded.commit, recorded };
}

export async function pastStep(git: Git, commit: string): Promise<PastStep> {
  const [time = '', ...subject] = (
    await git.run(['log', '-1', '--no-show-signature', '--format=%cI%n%s', commit])
  ).split('\n');
  return { time, message: excerpt(visibleText(oneLine(subject.join(' '))), 120) };
}
