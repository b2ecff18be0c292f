import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zip } from './zip.ts';

it('makes archives that other programs can read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-zip-'));
  const file = join(folder, 'a.zip');
  writeFileSync(
    file,
    zip([
      { path: 'a/one.txt', content: 'one\n' },
      { path: 'zwei.txt', content: 'über\n' },
    ]),
  );
  const look = `import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), [(n, z.read(n).decode()) for n in z.namelist()])`;
  const said = execFileSync('python3', ['-c', look, file], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  expect(said).toBe("None [('a/one.txt', 'one\\n'), ('zwei.txt', 'über\\n')]\n");
});
