import { execFile } from 'node:child_process';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { excerpt, visibleText } from '@belay/protocol';
import { asUser } from '../user-separation.js';
import { locateGit } from './git.js';

/** How long all of it may take: the model waits for it. In milliseconds. */
const timeoutMs = 1_000;
const outputBytes = 256 * 1024;
const listedFiles = 12;
const listedCommits = 5;
const longestName = 120;
/** A repository that sets up more programs than this is not asked for its changes. */
const mostFilters = 50;

/**
 * Branch, changed files and last commits of the workspace’s own repository, for the model; empty when there is none.
 * The repository is hostile: none of its settings starts a program, and its texts are cut and quoted. Never rejects.
 */
export async function describeRepository(workspace: string, binary = locateGit()): Promise<string> {
  const folder = join(workspace, '.git');
  const stats = await lstat(folder).catch(() => null);
  if (!stats) return 'Git: the workspace is not a repository.';
  if (!stats.isDirectory() || binary === null) return '';
  const git = ownGit({ binary, folder, workspace, signal: AbortSignal.timeout(timeoutMs) });
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

type RunGit = (args: readonly string[], config?: Record<string, string>) => Promise<string>;

/** No settings but the repository’s own, of which those that name a program are overridden. */
function ownGit({
  binary,
  folder,
  workspace,
  signal,
}: {
  binary: string;
  folder: string;
  workspace: string;
  signal: AbortSignal;
}): RunGit {
  return (args, config = {}) => {
    const settings = Object.entries({ ...noPrograms, ...config });
    const { file, args: all } = asUser(binary, args);
    const env = {
      GIT_DIR: folder,
      GIT_WORK_TREE: workspace,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_NO_LAZY_FETCH: '1',
      GIT_TERMINAL_PROMPT: '0',
      LC_ALL: 'C',
      GIT_CONFIG_COUNT: String(settings.length),
      ...Object.fromEntries(
        settings.flatMap(([key, value], index) => [
          [`GIT_CONFIG_KEY_${index}`, key],
          [`GIT_CONFIG_VALUE_${index}`, value],
        ]),
      ),
    };
    const options = { cwd: workspace, env, signal, maxBuffer: outputBytes } as const;
    return new Promise((resolve, reject) => {
      execFile(file, all, { ...options, killSignal: 'SIGKILL' }, (error, output) => {
        // What was read of a long output is enough.
        if (error && error.code !== 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') reject(error);
        else resolve(output);
      });
    });
  };
}

const noPrograms = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'log.showSignature': 'false',
  'protocol.allow': 'never',
};

const logArguments = [
  'log',
  `-${listedCommits}`,
  '-z',
  '--no-show-signature',
  '--no-color',
  '--format=%h %cs %s',
] as const;

interface Status {
  /** As git says it: `main...origin/main [ahead 1]`, `HEAD (no branch)`, `No commits yet on main`. */
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
    // The name before it moved follows by itself.
    if (/^[RC]/.test(field)) at++;
  }
  return { head: head.replace(/^## /, ''), changes };
}

/** The repository’s filters are programs that git starts to compare files: none of them runs. */
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

/** On one line and between quotes that it cannot close. */
const quoted = (text: string): string =>
  JSON.stringify(excerpt(visibleText(text).replaceAll(/\s+/g, ' ').trim(), longestName));
