import { nothing, type Submission } from '../carry.js';
import { file, tarOf } from '../entries.js';
import type { Task } from '../model.js';
import { startingFiles, workdirOf, type Assignment } from './agent.js';

/** Makes the starting files a repository with one commit; what comes later is not in it. */
export const gitInit = [
  'git init -q .',
  'git config user.email agent@localhost',
  'git config user.name agent',
  'git config core.autocrlf false',
  'git add -A -f',
  'git commit -q -m base',
].join(' && ');

/** For tasks whose repository comes as files, the commands that make it one. */
export function repositorySetup(task: Task): string | null {
  const isOurs = task.carries.kind === 'patch' && (task.steps[0]?.files.length ?? 0) > 0;
  return isOurs ? gitInit : null;
}

/**
 * The patch of an agent's changed files, taken in a fresh container: the agent's own .git, with its hooks,
 * filters and history, has no part in it.
 */
export async function patchOf(assignment: Assignment, changes: Submission): Promise<Submission> {
  const { task, image, engine, run, signal } = assignment;
  const workdir = workdirOf(assignment);
  const isWork = (path: string) => path.startsWith(`${workdir}/`) && !/\/\.git(\/|$)/.test(path);
  const first = task.steps[0];
  const starting = first ? startingFiles(assignment, first) : [];
  const entries = changes.entries.filter(({ path }) => isWork(path));
  const present = new Set(entries.map(({ path }) => path));
  // What came as files was added by us: it is in no image, so its removal is no change of the container.
  const gone = starting
    .filter(({ kind, path }) => kind !== 'folder' && !present.has(path))
    .map(({ path }) => path);
  const removed = [...changes.removed.filter(isWork), ...gone];
  const setup = repositorySetup(task) ?? 'true';
  const script = `cd "$1" && { ${setup}; } >&2 && tar -xf /belay/changes.tar -C / && { xargs -0 rm -rf -- < /belay/removed; } && git add -A && git -c core.pager=cat diff --cached --binary HEAD > /belay/patch.diff`;
  const box = await engine.create({
    run,
    image: image.name,
    command: ['bash', '-c', script, 'patch', workdir],
    user: 'root',
    workdir: '/',
    env: {},
    cpus: task.environment.cpus,
    memoryMb: task.environment.memoryMb,
    network: 'none',
    files: [
      ...starting,
      file('/belay/changes.tar', await tarOf(entries)),
      file('/belay/removed', removed.join('\0')),
    ],
  });
  try {
    await box.run(120, signal);
    const patch = (await box.read('/belay/patch.diff'))[0]?.bytes ?? Buffer.alloc(0);
    return { ...nothing, patch };
  } finally {
    engine.discard(box);
  }
}
