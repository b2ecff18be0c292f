import type { TaskContainer } from '@belay/containers';
import { reachable } from '../artifact-filter.js';
import { noArtifacts, type Artifacts } from '../artifacts.js';
import { gitEnvironment } from '../engine/git-environment.js';
import { createTask } from '../engine/task-files.js';
import { fileEntry, nulEnded } from '../entries.js';
import type { ArtifactPath, Step } from '../model.js';
import { agentFolders, startingFiles, workdirOf, type TrialContext } from './agent.js';
import { runCollectCommands } from './collect-commands.js';
import { declaredArtifacts } from './declared-artifacts.js';
import { runOnFiles, scriptFailed } from './run-on-files.js';

/** A session's `.git` is not exported, so what the agent committed there is committed again. */
const commit = [
  'git add -A',
  '{ git diff --cached --quiet || git -c user.name=agent -c user.email=agent@localhost -c core.hooksPath=/dev/null commit -q -m "The work of the agent"; }',
].join(' && ');

/**
 * The declared artifacts of an agent that worked on a copy of the working folder: its changes are
 * put back into a container of the task's image, and the collect commands run there.
 */
export async function workArtifacts(
  context: TrialContext,
  step: Step,
  { changes, paths }: { changes: Artifacts; paths: ArtifactPath[] },
): Promise<Artifacts> {
  const { task, image, host, run, signal } = context;
  const workdir = workdirOf(context);
  const isRepository = step.collect?.length ? `[ ! -e .git ] || { ${commit}; }` : 'true';
  const script = `{ cd "$1" || exit ${scriptFailed}; } && { xargs -0 rm -rf -- < /belay/removed; } && { ${isRepository}; }`;
  const containers: TaskContainer[] = [];
  const images: string[] = [];
  try {
    const first = await createTask(host, {
      run,
      image: image.name,
      command: ['sh', '-c', script, 'work', workdir],
      user: 'root',
      workdir: '/',
      env: gitEnvironment,
      cpus: task.environment.cpus,
      memoryMb: task.environment.memoryMb,
      network: 'none',
      files: [
        ...agentFolders(task),
        ...startingFiles(context, step),
        ...reachable(changes.entries),
        fileEntry('/belay/removed', nulEnded(changes.removed)),
      ],
    });
    containers.push(first);
    await runOnFiles(first, signal, {
      refused: 'The agent left files that cannot be put back',
      failed: 'The agent’s files could not be put back',
    });
    const keep = async (container: TaskContainer) => {
      const kept = await host.snapshot(container);
      images.push(kept);
      return kept;
    };
    const faults = await runCollectCommands(context, step, { containers, keep });
    const entries = await declaredArtifacts(context, containers.at(-1) ?? first, paths);
    return { ...noArtifacts, entries, note: faults.join('\n') };
  } finally {
    for (const container of containers) host.discard(container);
    for (const kept of images.toReversed()) await host.forget(kept);
  }
}
