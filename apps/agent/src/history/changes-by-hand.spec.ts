import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newEvent } from '@belay/protocol';
import { historyBench, type HistoryBench } from './testing/history-bench.js';

let bench: HistoryBench;
beforeEach(() => {
  bench = historyBench();
});
afterEach(() => bench.remove());
const put = (path: string, text: string | Buffer) =>
  writeFileSync(join(bench.workspace, path), text);

it('what a call changed is numbered as the lines are now, file by file', async () => {
  put('a b.txt', 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n');
  put('grün.txt', 'caf\u00e9\n');
  put('gone.txt', 'x\n');
  put('logo.png', Buffer.from([0, 1, 2]));
  await bench.history.begin();
  put('a b.txt', 'zero\none\n2\nthree\nfour\nfive\nsix\nseven, open');
  put('grün.txt', Buffer.from('caf\xe9\n', 'latin1'));
  rmSync(join(bench.workspace, 'gone.txt'));
  put('logo.png', Buffer.from([0, 1, 3]));
  await bench.history.commit({ id: 'user-1', message: 'By hand' });
  const { note = '', changes } = (await bench.history.changesOf('user-1')) ?? {};
  expect(note.split('\n')).toEqual([
    'What changed, with the line numbers as they are now:',
    'a b.txt:',
    '1\t+zero',
    '2\t one',
    '\t-two',
    '3\t+2',
    '4\t three',
    '5\t four',
    '6\t five',
    '7\t six',
    '\t-seven',
    '8\t+seven, open',
    'gone.txt was deleted.',
    'grün.txt:',
    '\t-café',
    '1\t+café',
    'Also changed: logo.png.',
  ]);
  expect(changes?.map(({ path }) => path)).toEqual(['a b.txt', 'gone.txt', 'grün.txt']);
  expect(await bench.history.changesOf('user-2')).toBeNull();
});

it('what a call changed fits into its event, however much it is', async () => {
  await bench.history.begin();
  put('first.txt', 'x\n');
  await bench.history.commit({ id: 'user-0', message: 'First' });
  const deep = Array.from({ length: 15 }, () => 'd'.repeat(200)).join('/');
  mkdirSync(join(bench.workspace, deep), { recursive: true });
  for (let n = 0; n < 60; n++) put(`${deep}/${n}`, `${'long line '.repeat(100)}\n`.repeat(20));
  put('many', Array.from({ length: 9_000 }, (_, n) => `${n}\n`).join(''));
  await bench.history.commit({ id: 'user-1', message: 'Much' });
  const told = await bench.history.changesOf('user-1');
  const args = { operation: 'files.write', ok: true, output: {}, seconds: 0, ...told };
  expect(() => newEvent('user', 'result', { args, message: 'done' })).not.toThrow();
  expect(told?.note).toContain('more');
  // What is not shown whole does not count as known.
  expect(told?.changes.map(({ path }) => path)).not.toContain('many');
});
