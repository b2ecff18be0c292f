import { closeSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFilesBelow } from './open-files.js';

it('lists what is open below a folder, and nothing beside it', () => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'belay-open-'));
  const beside = `${folder}-beside`;
  const file = join(folder, 'a');
  for (const path of [file, beside]) writeFileSync(path, '');
  const descriptors = [file, beside].map((path) => openSync(path, 'r'));
  expect(openFilesBelow(folder)).toEqual([file]);
  descriptors.forEach((descriptor) => closeSync(descriptor));
  expect(openFilesBelow(folder)).toEqual([]);
  for (const path of [folder, beside]) rmSync(path, { recursive: true });
});
