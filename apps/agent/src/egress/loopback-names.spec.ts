import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loopbackNames } from './loopback-names.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'belay-hosts-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

it('reads the names of loopback, and no others', () => {
  const file = join(folder, 'hosts');
  const lines = [
    '127.0.0.1\tlocalhost',
    '::1 ip6-localhost',
    '127.0.0.1  db db.test # the database',
    '#127.0.0.1 comment',
    '10.0.0.1 other',
    '127.0.0.1 a,*',
    '',
  ];
  writeFileSync(file, lines.join('\n'));
  expect(loopbackNames(file)).toEqual(['ip6-localhost', 'db', 'db.test']);
  expect(loopbackNames(join(folder, 'none'))).toEqual([]);
});
