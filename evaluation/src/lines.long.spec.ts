import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { linesIn } from './lines.js';
import { temporary } from './testing/fixtures.js';

const { folder, remove } = temporary();
afterAll(remove);

it('a file that is longer than any string is read line by line', async () => {
  const path = join(folder, 'large.jsonl');
  const file = openSync(path, 'w');
  const first = JSON.stringify({ task_id: 'Own/0', completion: 'a' });
  writeSync(file, `${first}\n`);
  // Zeros take no space on disk; the line ends keep each line below the limit.
  const last = `\n${JSON.stringify({ task_id: 'Own/1', completion: 'b' })}\n`;
  const at = 600 * 2 ** 20;
  for (let filler = 2 ** 26; filler < at; filler += 2 ** 26) writeSync(file, '\n', filler);
  writeSync(file, last, at);
  ftruncateSync(file, at + last.length);
  closeSync(file);
  const ids: string[] = [];
  for (const { bytes } of linesIn(path))
    if (bytes.length < 1000)
      ids.push((JSON.parse(bytes.toString()) as { task_id: string }).task_id);
  expect(ids).toEqual(['Own/0', 'Own/1']);
});
