import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { extract } from 'tar-stream';
import { applyPatch, checkedFolder, packWorkspace } from './workspace.js';

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
    encoding: 'utf8',
  });

async function packed(
  folder: string,
): Promise<Map<string, { type: string; mode: number; text: string; link: string }>> {
  const entries = new Map<string, { type: string; mode: number; text: string; link: string }>();
  const reader = extract();
  reader.on('entry', (header, stream, next) => {
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    stream.on('end', () => {
      const { type, mode, linkname } = header;
      entries.set(header.name.replace(/\/$/, ''), {
        type: type ?? '',
        mode: mode ?? 0,
        text,
        link: linkname ?? '',
      });
      next();
    });
  });
  Readable.fromWeb(packWorkspace(folder) as NodeStream).pipe(reader);
  await new Promise((done, failed) => reader.on('finish', done).on('error', failed));
  return entries;
}

describe('a workspace', () => {
  let root: string;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'belay-cli-')));
  });
  afterEach(() => rmSync(root, { recursive: true }));
  const put = (path: string, text: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  };

  it('of no repository is packed whole, with modes and links', async () => {
    put('a/b.txt', 'text');
    put('run.sh', '#!/bin/sh');
    put('empty', '');
    chmodSync(join(root, 'run.sh'), 0o755);
    symlinkSync('a/b.txt', join(root, 'link'));
    const entries = await packed(root);
    expect([...entries.keys()].toSorted()).toEqual(['a', 'a/b.txt', 'empty', 'link', 'run.sh']);
    expect(entries.get('run.sh')?.mode).toBe(0o755);
    expect(entries.get('a/b.txt')?.text).toBe('text');
    expect(entries.get('link')).toMatchObject({ type: 'symlink', link: 'a/b.txt' });
  });

  it('of a repository is packed without ignored files, hooks and remotes, with its history', async () => {
    git(root, 'init', '-q');
    put('.gitignore', 'node_modules\n');
    put('kept.txt', '1');
    put('node_modules/x.js', '');
    git(root, 'add', '.');
    git(root, 'commit', '-qm', 'first');
    git(root, 'remote', 'add', 'origin', 'https://user:secret@example.org/x.git');
    put('.git/hooks/post-checkout', '#!/bin/sh\ntouch ran');
    chmodSync(join(root, '.git/hooks/post-checkout'), 0o755);
    put('untracked.txt', '2');
    const entries = await packed(root);
    const names = [...entries.keys()];
    expect(names.filter((name) => !name.startsWith('.git/')).toSorted()).toEqual(
      ['.git', '.gitignore', 'kept.txt', 'untracked.txt'].filter((name) => entries.has(name)),
    );
    expect(names).toEqual(
      expect.arrayContaining([
        '.gitignore',
        'kept.txt',
        'untracked.txt',
        '.git/HEAD',
        '.git/index',
      ]),
    );
    expect(names.filter((name) => name.includes('hooks/'))).toEqual([]);
    expect(entries.get('.git/config')?.text).not.toContain('secret');
  });

  it('below the top of a repository is packed without the history of what is above', async () => {
    git(root, 'init', '-q');
    put('inner/a.txt', 'a');
    put('b.txt', 'b');
    git(root, 'add', '.');
    git(root, 'commit', '-qm', 'first');
    expect([...(await packed(join(root, 'inner'))).keys()]).toEqual(['a.txt']);
  });

  it('takes a patch, also below the top of a repository, whole or not at all', async () => {
    git(root, 'init', '-q');
    put('inner/a.txt', 'one\ntwo\n');
    const inner = join(root, 'inner');
    const patch = (line: string) =>
      Buffer.from(`--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n ${line}\n-two\n+three\n`);
    await applyPatch(inner, patch('one'));
    expect(readFileSync(join(inner, 'a.txt'), 'utf8')).toBe('one\nthree\n');
    await expect(applyPatch(inner, patch('other'))).rejects.toThrow(
      /The patch does not apply to .*inner: error:/,
    );
    expect(readFileSync(join(inner, 'a.txt'), 'utf8')).toBe('one\nthree\n');
  });

  it('must be there and be a folder', async () => {
    put('file', '');
    await expect(checkedFolder(join(root, 'none'))).rejects.toThrow(/none does not exist\.$/);
    await expect(checkedFolder(join(root, 'file'))).rejects.toThrow(/file is not a folder\.$/);
    expect(await checkedFolder(root)).toBe(root);
  });
});
