import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { historyBench, treeOf, type HistoryBench } from './testing/history-bench.js';

let bench: HistoryBench;
beforeEach(async () => {
  bench = historyBench();
  put('a', lines.join('\n'));
  await bench.history.begin();
});
afterEach(() => bench.remove());

const lines = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);

const put = (path: string, content: string) => {
  const file = join(bench.workspace, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
};
const read = (path: string) => readFileSync(join(bench.workspace, path), 'utf8');
const changeLine = (number: number, to: string) =>
  put(
    'a',
    read('a')
      .split('\n')
      .with(number - 1, to)
      .join('\n'),
  );
/** Records the changes as a step, and returns its commit. */
const step = async (id: string): Promise<string> => {
  await bench.history.commit({ id, message: `Step ${id}` });
  return String(bench.commits().at(-1)?.args['commit']);
};
const undo = (commit: string, preview = false) => bench.call('workspace.undo', { commit, preview });

describe('undoing a step', () => {
  it('in the middle keeps the later ones, and undoing that brings it back', async () => {
    changeLine(2, 'two');
    put('new/b', 'b\n');
    const middle = await step('middle');
    changeLine(25, 'later');
    await step('later');
    const all = treeOf(bench.workspace);
    const files = [
      { path: 'a', status: 'modified' },
      { path: 'new/b', status: 'deleted' },
    ];
    expect(await undo(middle, true)).toMatchObject({ files, commit: null });
    expect(treeOf(bench.workspace)).toEqual(all);
    const undone = await undo(middle);
    expect(undone).toMatchObject({ files, undone: { commit: middle, message: 'Step middle' } });
    expect(treeOf(bench.workspace)).toEqual({ a: lines.with(24, 'later').join('\n') });
    const [commit] = bench.commits().slice(-1);
    expect(commit).toMatchObject({
      id: 'call-workspace.undo',
      message: `Undid ${middle.slice(0, 7)}, “Step middle”`,
      args: { commit: undone.commit },
    });
    await undo(undone.commit ?? '');
    expect(treeOf(bench.workspace)).toEqual(all);
  });

  it('keeps changes that no step has recorded yet', async () => {
    changeLine(2, 'two');
    const commit = await step('one');
    put('by-hand', 'x\n');
    await undo(commit);
    expect(treeOf(bench.workspace)).toEqual({ a: lines.join('\n'), 'by-hand': 'x\n' });
    expect(bench.commits().at(-2)?.message).toBe('Recorded by-hand');
  });

  it('is refused with the files where later changes touch the same lines, and changes nothing', async () => {
    changeLine(2, 'two');
    put('b', 'b\n');
    const commit = await step('one');
    changeLine(2, 'second');
    rmSync(join(bench.workspace, 'b'));
    await step('two');
    const before = treeOf(bench.workspace);
    await expect(undo(commit)).rejects.toMatchObject({
      code: 'conflict',
      message: 'Later changes touch the same lines of a. Undo the later steps first, or rewind.',
    });
    expect(treeOf(bench.workspace)).toEqual(before);
  });

  it('is refused for what is gone already, for the start, and for no step', async () => {
    changeLine(2, 'two');
    const commit = await step('one');
    await undo(commit);
    await expect(undo(commit)).rejects.toMatchObject({
      code: 'conflict',
      message: 'The changes of this step are already gone: nothing to undo.',
    });
    const start = String(bench.commits()[0]?.args['commit']);
    await expect(undo(start)).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(undo('0123456789')).rejects.toMatchObject({ code: 'not_found' });
  });
});
