import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { runFindings } from '@belay/protocol';
import { itLong } from '@belay/testing';
import { gitIn, put } from '@belay/testkit';
import { Config } from '../../config.js';
import { GitHosts } from '../../git/git-hosts.js';
import { RepositoryFetcher } from '../../git/repository-fetcher.js';
import { EventLog } from '../../logs/event-log.js';
import { GitScene } from '../../testing/git-scene.js';
import { PullChanges } from '../forges/pull-changes.js';
import { PullLines } from './pull-lines.js';
import { runOf } from './testing/run-of.js';

const scene = new GitScene();
const { belay, git, source, scratch } = scene;
let repositories = 0;
beforeAll(() => scene.start());
afterAll(() => scene.close());

const commit = (name: string, text: string): string => {
  put(source, name, text);
  gitIn(source, 'add', name);
  gitIn(source, 'commit', '-q', '-m', name);
  return gitIn(source, 'rev-parse', 'HEAD').trim();
};

/** Publishes the source as it is now. */
const repository = () => {
  const path = `acme/lines-${++repositories}.git`;
  return { bare: git.publish(path, source), url: git.url(path) };
};

const linesFor = async (url: string, findings: object) => {
  const { app } = belay;
  const [hosts, fetcher] = [app.get(GitHosts), app.get(RepositoryFetcher)];
  const changes = new PullChanges(app.get(Config), hosts, fetcher);
  const lines = new PullLines(changes, app.get(EventLog));
  const session = await belay.session({ repository: { url } });
  return lines.of(runOf({ session, findings: runFindings.parse(findings) }));
};

it('knows the lines of a pull request from where its branch began, without what came to the base since', async () => {
  gitIn(source, 'checkout', '-q', '-b', 'feature');
  const sha = commit('README.md', 'one\n2\nthree\nfour\n');
  gitIn(source, 'checkout', '-q', 'main');
  commit('later.txt', 'later\n');
  const { url } = repository();
  const shown = await linesFor(url, { sha, base: 'main', branch: 'feature' });
  expect(shown({ path: 'README.md', line: 2, side: 'new' })).toBe(true);
  expect(shown({ path: 'README.md', line: 2, side: 'old' })).toBe(true);
  expect(shown({ path: 'README.md', line: 9, side: 'new' })).toBe(false);
  expect(shown({ path: 'later.txt', line: 1, side: 'new' })).toBe(false);
  expect(shown({ path: 'later.txt', line: 1, side: 'old' })).toBe(false);
  expect(scratch()).toEqual([]);
});

itLong('finds where a branch with a long history began', async () => {
  gitIn(source, 'checkout', '-q', '-b', 'long', 'main');
  const sha = Array.from({ length: 60 }, (_, at) => commit('long.txt', `${at}\n`)).at(-1);
  gitIn(source, 'checkout', '-q', 'main');
  const { url } = repository();
  const shown = await linesFor(url, { sha, base: 'main', branch: 'long' });
  expect(shown({ path: 'long.txt', line: 1, side: 'new' })).toBe(true);
});

it('knows those of a fork, whose commits are on none of the branches', async () => {
  const { bare, url } = repository();
  // As git hosts have it.
  gitIn(bare, 'config', 'uploadpack.allowReachableSHA1InWant', 'true');
  const fork = join(scene.folder, 'fork');
  execFileSync('git', ['clone', '-q', bare, fork]);
  put(fork, 'fork.txt', 'fork\n');
  gitIn(fork, 'add', 'fork.txt');
  gitIn(fork, 'commit', '-q', '-m', 'fork');
  gitIn(fork, 'push', '-q', 'origin', 'HEAD:refs/pull/7/head');
  const sha = gitIn(fork, 'rev-parse', 'HEAD').trim();
  const shown = await linesFor(url, { sha, base: 'main', branch: 'main', isFork: true });
  expect(shown({ path: 'fork.txt', line: 1, side: 'new' })).toBe(true);
});

it('knows none of a commit that does not exist', async () => {
  const { url } = repository();
  const shown = await linesFor(url, { sha: 'b'.repeat(40), base: 'main', branch: 'x' });
  expect(shown({ path: 'README.md', line: 1, side: 'new' })).toBe(false);
  expect(scratch()).toEqual([]);
});
