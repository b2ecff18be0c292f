import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gitIn, GitServer, put } from '@belay/testkit';
import { CommitReader } from './commit-reader.js';

const server = new GitServer();
const folder = mkdtempSync(join(tmpdir(), 'belay-commit-reader-'));
const source = join(folder, 'source');
let commit: string;

beforeAll(async () => {
  await server.start();
  put(source, 'a.txt', 'a\n');
  gitIn(source, 'init', '-q', '-b', 'main', '--template=');
  gitIn(source, 'add', '.');
  gitIn(source, 'commit', '-q', '-m', 'first');
  const bare = server.publish('acme/app.git', source);
  put(source, 'b.txt', 'b\n');
  gitIn(source, 'add', '.');
  gitIn(source, 'commit', '-q', '-m', `second\n\nBelay-Evidence: sha256:${'1'.repeat(64)}`);
  commit = gitIn(source, 'rev-parse', 'HEAD').trim();
  gitIn(source, 'push', '-q', bare, 'HEAD:refs/pull/7/head');
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the commit to verify', () => {
  it('is read of a pull request over git as it is in a clone', async () => {
    const repository = server.url('acme/app.git');
    const fetched = await CommitReader.fetch({ repository, ref: 'refs/pull/7/head' });
    const cloned = await CommitReader.open(source);
    expect(await fetched.find('HEAD')).toBe(commit);
    const read = await fetched.read(commit);
    expect(read).toMatchObject({ commit, evidence: ['1'.repeat(64)] });
    expect(read).toEqual(await cloned.read(commit));
    await fetched.close();
    await cloned.close();
    expect(server.requests.every((one) => one.includes('/acme/app.git/'))).toBe(true);
  });

  it('is not fetched by what runs programs or reads files, and leaves nothing', async () => {
    const earlier = process.env.TMPDIR;
    const scratch = mkdtempSync(join(folder, 'scratch-'));
    process.env.TMPDIR = scratch;
    const marker = join(folder, 'ran');
    for (const repository of [`ext::sh -c touch% ${marker}`, `file://${source}`, source])
      await expect(CommitReader.fetch({ repository, ref: 'refs/heads/main' })).rejects.toThrow(
        'could not be fetched',
      );
    if (earlier === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = earlier;
    expect(existsSync(marker)).toBe(false);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it('is asked for in one that is there, and a clone', async () => {
    await expect(CommitReader.open('/no/such')).rejects.toThrow('There is no folder /no/such.');
    await expect(CommitReader.open(folder)).rejects.toThrow('is not in a git repository.');
  });

  it('is refused in a sentence where there is none', async () => {
    const repository = server.url('acme/app.git');
    const fetch = CommitReader.fetch({ repository, ref: 'refs/pull/8/head' });
    await expect(fetch).rejects.toThrow(`refs/pull/8/head of ${repository} could not be fetched`);
  });
});
