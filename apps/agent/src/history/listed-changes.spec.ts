import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { totalOfChange, type EventArgs } from '@belay/protocol';
import { historyBench, type HistoryBench } from './testing/history-bench.js';

let bench: HistoryBench;
beforeEach(() => {
  bench = historyBench();
});
afterEach(() => bench.remove());

const put = (path: string, content = 'x\n') => {
  mkdirSync(join(bench.workspace, dirname(path)), { recursive: true });
  writeFileSync(join(bench.workspace, path), content);
};

it('counts all files of a large step, and a moved file once, as the diff does', async () => {
  const text = 'line\n'.repeat(100);
  put('old', text);
  await bench.history.begin();
  rmSync(join(bench.workspace, 'old'));
  put('new', `${text}more\n`);
  await bench.history.commit({ id: 'move', message: 'Move' });
  for (let file = 0; file < 501; file++) put(`many/${file}`);
  await bench.history.commit({ id: 'many', message: 'Many' });
  put('one');
  await bench.history.commit({ id: 'one', message: 'One' });
  const [, moved, many, one] = bench.commits();
  expect(moved?.args).toMatchObject({
    files: [
      { path: 'new', added: 101, removed: 0 },
      { path: 'old', added: 0, removed: 100 },
    ],
    total: { files: 1, added: 1, removed: 0 },
  });
  expect(many?.args).toMatchObject({ total: { files: 501, added: 501, removed: 0 } });
  expect(many?.args['files']).toHaveLength(500);
  expect(one?.args).not.toHaveProperty('total');
  for (const step of [moved, many, one]) {
    const args = step?.args as EventArgs<'commit'>;
    const range = { from: args.parent ?? '', to: args.commit };
    expect(totalOfChange(await bench.call('workspace.diff', range))).toEqual(totalOfChange(args));
  }
});
