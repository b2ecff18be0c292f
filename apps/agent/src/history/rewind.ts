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

interface Rewound {
  /** The step whose files were restored. */
  to: { time: string; message: string };
  files: Pick<Change, 'path' | 'status'>[];
  commit: string | null;
  recorded: Recorded | null;
}

/** Restores recorded files; ignored files stay. The state before is a commit too, so nothing is lost. */
export async function rewind(
  recorder: Recorder,
  git: Git,
  { commit, preview, call }: Rewind,
): Promise<Rewound> {
  await recorder.stage();
  const args = ['diff-index', '--cached', '-R', '--no-renames', ...changeArguments, commit];
  const changes = parseChanges(await git.run(args));
  const files = changes.map(({ path, status }) => ({ path, status }));
  const to = await stepOf(git, commit);
  if (preview) return { to, files, commit: null, recorded: null };
  if (files.length === 0) return { to, files, commit: await recorder.head(), recorded: null };
  await git.run(['read-tree', '--reset', '-u', commit]);
  const step = { message: `Rewound to ${commit.slice(0, 12)}: ${to.message}`, call };
  const tree = (await git.run(['write-tree'])).trim();
  const recorded = await recorder.commitTree(tree, step);
  return { to, files, commit: recorded.commit, recorded };
}

async function stepOf(git: Git, commit: string): Promise<Rewound['to']> {
  const [time = '', ...subject] = (
    await git.run(['log', '-1', '--no-show-signature', '--format=%cI%n%s', commit])
  ).split('\n');
  return { time, message: excerpt(visibleText(oneLine(subject.join(' '))), 120) };
}
