import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import promises from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { openFilesBelow, until } from '@belay/testing';
import { extract, pack } from 'tar-stream';
import { tarWithRepository } from './tar-with-repository.js';

const count = 500;
let workspace: string;

beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'belay-tar-'));
  mkdirSync(join(workspace, '.git'));
});
afterEach(() => rmSync(workspace, { recursive: true }));

function noFiles(): Readable {
  const tar = pack();
  tar.finalize();
  return tar;
}

describe.each([
  ['empty files', ''],
  ['files', 'x'.repeat(100)],
])('a repository with many %s', (_what, content) => {
  beforeEach(() => {
    for (let at = 0; at < count; at++) writeFileSync(join(workspace, `.git/${at}`), content);
  });

  it('is sent whole', async () => {
    const bytes = await buffer(tarWithRepository(noFiles(), workspace));
    const names: string[] = [];
    const archive = extract();
    archive.on('entry', (header, entry, next) => {
      names.push(header.name);
      entry.resume().once('end', next);
    });
    await new Promise((resolve) => archive.once('finish', resolve).end(bytes));
    expect(names).toHaveLength(count + 1);
    expect(openFilesBelow(workspace)).toEqual([]);
  });

  it('is left with nothing open when its reader goes away', async () => {
    // The spy keeps what was opened: otherwise the garbage collection closes it.
    const opened = jest.spyOn(promises, 'open');
    const tar = tarWithRepository(noFiles(), workspace);
    await until(
      'it waits for its reader, in the middle of a file',
      () => openFilesBelow(workspace).length > 0,
    );
    tar.destroy();
    await until('nothing is open', () => openFilesBelow(workspace).length === 0);
    opened.mockRestore();
  });
});

it('attack: a pipe that takes the place of a file does not hold the archive up', async () => {
  const file = join(workspace, '.git/config');
  writeFileSync(file, 'content');
  const { lstat } = promises;
  const looked = jest.spyOn(promises, 'lstat').mockImplementation(async (path) => {
    const stats = await lstat(path);
    if (path === file) {
      rmSync(file);
      execFileSync('mkfifo', [file]);
    }
    return stats;
  });
  const bytes = await buffer(tarWithRepository(noFiles(), workspace));
  expect(bytes.toString()).toContain('.git/config');
  looked.mockRestore();
});
