import { posix } from 'node:path';
import { noArtifacts, type Artifacts } from '../artifacts.js';
import { gitEnvironment } from '../engine/git-environment.js';
import { createTask, readFiles } from '../engine/task-files.js';
import { fileEntry, nulEnded, packArchive, parentsOf, type Entry } from '../entries.js';
import type { Task } from '../model.js';
import { reachable } from '../artifact-filter.js';
import { startingFiles, workdirOf, type TrialContext } from './agent.js';
import { runOnFiles, scriptFailed } from './run-on-files.js';

/** Commits the starting files to a new repository; later files are not part of the commit. */
export const gitInit = [
  'git init -q .',
  'git config user.email agent@localhost',
  'git config user.name agent',
  'git config core.autocrlf false',
  'git add -A -f',
  'git commit -q -m base',
].join(' && ');

/** The commands that create the repository of a task that comes as files; null for other tasks. */
export function repositorySetup(task: Task): string | null {
  const isOurs = task.artifacts.kind === 'patch' && (task.steps[0]?.files.length ?? 0) > 0;
  return isOurs ? gitInit : null;
}

/**
 * Removes what the agent removed, and whatever stands in the way of its files: folders where it has
 * files or links, and files or links where it has folders.
 */
const clearing = [
  'xargs -0 rm -rf -- < /belay/removed',
  `xargs -0 sh -c 'for path do if [ -d "$path" ] && [ ! -L "$path" ]; then rm -rf -- "$path"; fi; done' clear < /belay/changed`,
  `xargs -0 sh -c 'for path do if [ -L "$path" ] || [ ! -d "$path" ]; then rm -f -- "$path"; fi; done' clear < /belay/folders`,
].join(' && ');

/**
 * The patch of an agent's changed files, made in a new container, so that the agent's own .git,
 * with its hooks, filters and history, cannot influence it. Throws `Refused` for files that git does
 * not take.
 */
export async function patchOf(context: TrialContext, changes: Artifacts): Promise<Artifacts> {
  const { task, image, host, run, signal } = context;
  const workdir = workdirOf(context);
  const isWork = (path: string) =>
    posix.normalize(path) === path && path.startsWith(`${workdir}/`) && !/\/\.git(\/|$)/.test(path);
  const first = task.steps[0];
  const starting = first ? startingFiles(context, first) : [];
  const entries = reachable(changes.entries.filter(({ path }) => isWork(path)));
  const present = new Set(entries.map(({ path }) => path));
  // Starting files are not part of the image, so the engine does not report their removal.
  const gone = starting
    .filter(({ kind, path }) => kind !== 'folder' && !present.has(path))
    .map(({ path }) => path);
  const removed = [...changes.removed.filter(isWork), ...gone];
  const setup = repositorySetup(task) ?? 'true';
  const script = `{ cd "$1" && { ${setup}; } >&2 || exit ${scriptFailed}; } && ${clearing} && tar -xf /belay/changes.tar -C / && git add -A && git -c core.pager=cat diff --cached --binary HEAD > /belay/patch.diff`;
  const container = await createTask(host, {
    run,
    image: image.name,
    command: ['bash', '-c', script, 'patch', workdir],
    user: 'root',
    workdir: '/',
    env: gitEnvironment,
    cpus: task.environment.cpus,
    memoryMb: task.environment.memoryMb,
    network: 'none',
    files: [
      ...starting,
      fileEntry('/belay/changes.tar', await packArchive(entries)),
      fileEntry('/belay/removed', nulEnded(removed)),
      fileEntry('/belay/changed', nulEnded(filesOf(entries))),
      fileEntry('/belay/folders', nulEnded(foldersOf(entries, workdir))),
    ],
  });
  try {
    await runOnFiles(container, signal, {
      refused: 'The agent left files of which git makes no patch',
      failed: 'The patch could not be made',
    });
    const patch = (await readFiles(container, '/belay/patch.diff'))[0]?.bytes ?? Buffer.alloc(0);
    return { ...noArtifacts, patch };
  } finally {
    host.discard(container);
  }
}

const filesOf = (entries: Entry[]) =>
  entries.filter(({ kind }) => kind !== 'folder').map(({ path }) => path);

/** The folders of the entries below the working folder, the outer ones first. */
function foldersOf(entries: Entry[], workdir: string): string[] {
  const folders = new Set(
    entries.flatMap(({ kind, path }) => [...(kind === 'folder' ? [path] : []), ...parentsOf(path)]),
  );
  return [...folders]
    .filter((path) => path.startsWith(`${workdir}/`))
    .toSorted((a, b) => a.length - b.length);
}
