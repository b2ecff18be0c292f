import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { historyBench } from './testing/history-bench.js';
import { SmallWorkspace } from './small-workspace.js';

let folder: string;
let workspace: SmallWorkspace;
const at = (path: string) => join(folder, path);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belay-small-'));
  mkdirSync(at('sub/deep'), { recursive: true });
  mkdirSync(at('.git'));
  writeFileSync(at('sub/deep/file'), 'one\n');
  symlinkSync('sub', at('link'));
  workspace = new SmallWorkspace(folder);
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** Nothing here was changed a moment ago, and what changes from now on has another time. */
async function later(): Promise<void> {
  const latest = Date.now();
  const probe = at('.git/probe');
  await until('the next time of the file system', () => {
    writeFileSync(probe, '');
    return statSync(probe).ctimeMs > latest;
  });
  jest.spyOn(Date, 'now').mockReturnValue(latest + 60_000);
}

it('is the same while nothing changes, whatever happens in .git', async () => {
  await later();
  const state = workspace.state();
  expect(state).toBeDefined();
  writeFileSync(at('.git/index'), 'new');
  mkdirSync(at('sub/.git'));
  rmSync(at('sub/.git'), { recursive: true });
  // The folder’s own time says that something was in it.
  const again = workspace.state();
  expect(again).not.toBe(state);
  expect(workspace.state()).toBe(again);
});

it.each<[string, () => void]>([
  ['more content', () => appendFileSync(at('sub/deep/file'), 'two\n')],
  [
    'other content of the same size and time',
    () => {
      const { atime, mtime } = statSync(at('sub/deep/file'));
      writeFileSync(at('sub/deep/file'), 'two\n');
      utimesSync(at('sub/deep/file'), atime, mtime);
    },
  ],
  ['another mode', () => chmodSync(at('sub/deep/file'), 0o755)],
  ['a new file', () => writeFileSync(at('sub/deep/new'), '')],
  ['a new name', () => renameSync(at('sub/deep/file'), at('sub/deep/name'))],
  ['a removed file', () => rmSync(at('sub/deep/file'))],
  [
    'a link that leads elsewhere',
    () => {
      rmSync(at('link'));
      symlinkSync('dub', at('link'));
    },
  ],
  ['a new file at the top', () => writeFileSync(at('new'), '')],
])('is another after %s', async (_, change) => {
  await later();
  const state = workspace.state();
  expect(state).toBeDefined();
  change();
  expect(workspace.state()).not.toBe(state);
});

it('is not told of what changed a moment ago, or is gone', async () => {
  expect(workspace.state()).toBeUndefined();
  await later();
  expect(workspace.state()).toBeDefined();
  expect(new SmallWorkspace(at('none')).state()).toBeUndefined();
});

it('is not told of a workspace that is or was too large', async () => {
  for (let file = 0; file < 300; file++) writeFileSync(at(`sub/${file}`), '');
  await later();
  expect(workspace.state()).toBeUndefined();
  for (let file = 0; file < 300; file++) rmSync(at(`sub/${file}`));
  expect(workspace.state()).toBeUndefined();
  expect(new SmallWorkspace(folder).state()).toBeDefined();
});

it('spares the history the processes of git, from the begin in an empty workspace to a change', async () => {
  const bench = historyBench({ git: '/none/git' });
  jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
  await bench.history.begin();
  await bench.history.commit({ id: '1', message: 'x' });
  expect(bench.commits().map(({ message }) => message)).toEqual([
    'Recorded the workspace at the start',
  ]);
  writeFileSync(join(bench.workspace, 'a'), 'x');
  await bench.history.commit({ id: '2', message: 'x' });
  expect(bench.commits().at(-1)?.message).toMatch(/^The history could not be written: Git could/);
  bench.remove();
});

it('spares them also where an empty workspace was made a moment ago', async () => {
  const bench = historyBench({ git: '/none/git' });
  await bench.history.begin();
  writeFileSync(join(bench.workspace, 'a'), 'x');
  rmSync(join(bench.workspace, 'a'));
  await bench.history.commit({ id: '1', message: 'x' });
  expect(bench.commits().map(({ message }) => message)).toEqual([
    'Recorded the workspace at the start',
  ]);
  bench.remove();
});
