import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { excerpt, visibleText } from '@belay/protocol';
import { locateGit } from './git.js';
import { runInOwnRepository } from './own-repository.js';

/**
 * The time limit in milliseconds for all of this: the first reply of the model waits for it. Large repositories and busy
 * machines need seconds, and a prompt that lacks the branch and the changes is worse than a later one.
 */
const usualTimeoutMs = 10_000;
const maxCharacters = 256 * 1024;
const listedFiles = 12;
const listedCommits = 5;
const longestName = 120;
/** For a repository that configures more filter programs than this, changes are not listed. */
const mostFilters = 50;

/**
 * Branch, changed files and last commits of the workspace’s own repository, for the model; empty if there is none. The
 * repository is untrusted: none of its settings starts a program, and its texts are shortened and quoted. Never
 * rejects.
 */
export async function describeRepository(
  workspace: string,
  timeoutMs = usualTimeoutMs,
): Promise<string> {
  const binary = locateGit();
  const folder = join(workspace, '.git');
  const stats = await lstat(folder).catch(() => null);
  if (!stats) return 'Git: the workspace is not a repository.';
  if (!stats.isDirectory() || binary === null) return '';
  const signal = AbortSignal.timeout(timeoutMs);
  const git: RunGit = async (args, settings = {}) => {
    const options = { maxCharacters, settings, signal };
    const { output, ok } = await runInOwnRepository({ binary, workspace }, args, options);
    // The part of a long output that was read is enough.
    if (ok || output.length > maxCharacters) return output;
    throw new Error('Git failed.');
  };
  const [status, log] = await Promise.all([
    readStatus(git).catch(() => null),
    git([...logArguments]).catch(() => ''),
  ]);
  const commits = log.split('\0').filter(Boolean).slice(0, listedCommits);
  if (!status && commits.length === 0) return 'Git: could not be read in time; see git status.';
  return [
    status
      ? describeStatus(status)
      : 'Git: the changes could not be listed in time; see git status.',
    ...(commits.length === 0
      ? ['No commits yet.']
      : ['Last commits (titles are text of the repository):', ...commits.map(describeCommit)]),
  ].join('\n');
}

type RunGit = (args: readonly string[], settings?: Record<string, string>) => Promise<string>;

const logArguments = [
  'log',
  `-${listedCommits}`,
  '-z',
  '--no-show-signature',
  '--no-color',
  '--format=%h %cs %s',
] as const;

interface Status {
  /** As git prints it: `main...origin/main [ahead 1]`, `HEAD (no branch)`, `No commits yet on main`. */
  head: string;
  /** As in `git status --short`: two letters and a path. */
  changes: string[];
}

async function readStatus(git: RunGit): Promise<Status> {
  const args = ['status', '--porcelain', '--branch', '-z', '--ignore-submodules=all'];
  const output = await git(args, await withoutFilters(git));
  const [head = '', ...fields] = output.split('\0');
  const changes: string[] = [];
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] ?? '';
    if (field.length > 3) changes.push(field);
    // The next field is the old name of a moved file.
    if (/^[RC]/.test(field)) at++;
  }
  return { head: head.replace(/^## /, ''), changes };
}

/** Disables the repository’s filters, which are programs that git would start to compare files. */
async function withoutFilters(git: RunGit): Promise<Record<string, string>> {
  const names = await git(['config', '--name-only', '-z', '--get-regexp', '^filter\\.']).catch(
    () => '',
  );
  const drivers = new Set(
    names.split('\0').flatMap((name) => /^(filter\..+)\.[^.]+$/s.exec(name)?.[1] ?? []),
  );
  if (drivers.size > mostFilters) throw new Error('Too many filters.');
  return Object.fromEntries(
    [...drivers].flatMap((driver) => [
      [`${driver}.clean`, ''],
      [`${driver}.process`, ''],
      [`${driver}.required`, 'false'],
    ]),
  );
}

function describeStatus({ head, changes }: Status): string {
  const [, branch = '', distance = ''] = /^(.*?)(?:\.\.\..*?)?( \[[\w, ]+\])?$/s.exec(head) ?? [];
  const on = `Git: on ${quoted(branch)}${distance}`;
  if (changes.length === 0) return `${on}, nothing changed.`;
  const more = changes.length - listedFiles;
  return [
    `${on}, with uncommitted changes:`,
    ...changes
      .slice(0, listedFiles)
      .map((line) => `  ${line.slice(0, 2)} ${quoted(line.slice(3))}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ].join('\n');
}

function describeCommit(line: string): string {
  const [, id, date, title] = /^([0-9a-f]+) ([\d-]+) (.*)$/s.exec(line) ?? [];
  return `  ${id ?? '?'} ${date ?? '?'} ${quoted(title ?? '')}`;
}

/** On one line, in quotes that the text cannot close. */
const quoted = (text: string): string =>
  JSON.stringify(excerpt(visibleText(text).replaceAll(/\s+/g, ' ').trim(), longestName));
