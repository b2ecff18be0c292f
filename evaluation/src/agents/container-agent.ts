import { posix } from 'node:path';
import { changesOf, merge, noArtifacts, type Artifacts } from '../artifacts.js';
import type { TaskContainer } from '../engine/task-container.js';
import { ReadBudget } from '../read-budget.js';
import { notReady, whenReady } from '../engine/readiness.js';
import { fileEntry, folderEntry, ownedBy, type Entry } from '../entries.js';
import type { Step, Task } from '../model.js';
import { patchOf, repositorySetup } from './repository.js';
import {
  noUsage,
  startingFiles,
  workdirOf,
  type Agent,
  type TrialContext,
  type AgentInstance,
} from './agent.js';

/** The command of an agent for a step, with its files. */
export interface Program {
  files: Entry[];
  command: string[];
  env: Record<string, string>;
}

/** An agent that runs a program in the task's container; `null` skips a step. */
export function containerAgent(
  name: string,
  programOf: (step: Step, task: Task) => Program | null,
): Agent {
  return {
    name,
    model: null,
    setup: async (context) => new ContainerAgent(context, programOf),
  };
}

/**
 * Keeps the container's state between steps as an image, because each step runs in a new container.
 */
class ContainerAgent implements AgentInstance {
  #image: string;
  #snapshots: string[] = [];
  #collected = noArtifacts;

  constructor(
    private readonly context: TrialContext,
    private readonly programOf: (step: Step, task: Task) => Program | null,
  ) {
    this.#image = context.image.name;
  }

  async run(step: Step): Promise<Artifacts> {
    const { task, engine } = this.context;
    const program = this.programOf(step, task);
    if (!program && task.artifacts.kind !== 'container') return { ...noArtifacts, always: true };
    const container = await this.#createContainer(
      step,
      program ?? { files: [], command: ['true'], env: {} },
    );
    try {
      const { exitCode, timedOut } = await container.run(step.limits.agent, this.context.signal);
      const output = await container.output();
      const artifacts = { ...(await this.#collect(container)), output };
      const more = step !== task.steps.at(-1);
      if (more) {
        this.#image = await engine.snapshot(container);
        this.#snapshots.push(this.#image);
      }
      if (exitCode === notReady)
        return { ...artifacts, broken: output.trim().split('\n').at(-1) ?? '' };
      // The shell's code for a missing command: the agent did not run at all.
      if (exitCode === 127)
        return {
          ...artifacts,
          broken: `The agent’s command was not found: ${output.trim().split('\n').at(-1) ?? ''}`,
        };
      const note = exitCode === 0 ? '' : `The agent’s program exited with code ${exitCode}.`;
      return { ...artifacts, timedOut, always: !program, note };
    } finally {
      engine.discard(container);
    }
  }

  usage() {
    return noUsage;
  }

  async stop(): Promise<void> {
    for (const image of this.#snapshots.toReversed()) await this.context.engine.forget(image);
  }

  async #createContainer(step: Step, { files, command, env }: Program): Promise<TaskContainer> {
    const { task, image, engine, run, network } = this.context;
    const { cpus, memoryMb } = task.environment;
    const workdir = workdirOf(this.context);
    const setup = repositorySetup(task);
    const { healthcheck } = task.environment;
    const readyCommand = whenReady(command, {
      ...(healthcheck && { before: healthcheck, entrypoint: image.entrypoint }),
      setup: step.setup,
      after: step.healthcheck,
    });
    return engine.create({
      run,
      image: this.#image,
      command: setup
        ? ['bash', '-c', `${setup} && exec "$@"`, 'setup', ...readyCommand]
        : readyCommand,
      user: task.user ?? (image.user || 'root'),
      workdir,
      env: { ...task.environment.env, ...env },
      cpus,
      memoryMb,
      network: network === 'declared' ? task.environment.network : 'none',
      files: [
        ...agentFolders(task),
        ...startingFiles(this.context, step),
        fileEntry('/belay/instruction.md', step.instruction),
        ...files,
      ],
    });
  }

  async #collect(container: TaskContainer): Promise<Artifacts> {
    const { task } = this.context;
    const workdir = workdirOf(this.context);
    if (task.artifacts.kind === 'container') {
      // The engine reports only the changes since the snapshot of the previous step.
      this.#collected = merge(this.#collected, await changesOf(container));
      return this.#collected;
    }
    if (task.artifacts.kind === 'patch') {
      const changes = await changesOf(container);
      return patchOf(this.context, changes);
    }
    const base = task.artifacts.kind === 'files' ? workdir : '/';
    const entries: Entry[] = [];
    const budget = new ReadBudget();
    for (const path of task.artifacts.paths)
      entries.push(...(await container.read(posix.resolve(base, path), budget)));
    return { ...noArtifacts, entries };
  }
}

/** Folders that formats guarantee to an agent, writable by any user. */
function agentFolders({ artifacts }: Task): Entry[] {
  if (artifacts.kind !== 'container' && artifacts.kind !== 'paths') return [];
  return ownedBy(
    ['/logs', '/logs/agent', '/logs/artifacts', '/agent-logs'].map((path) =>
      folderEntry(path, 0o777),
    ),
    0,
  );
}
