import { posix } from 'node:path';
import type { TaskContainer } from '@belay/containers';
import { changesOf, merge, noArtifacts, type Artifacts } from '../artifacts.js';
import { ReadBudget } from '../read-budget.js';
import { notReady, whenReady } from '../engine/readiness.js';
import { createTask, readFiles } from '../engine/task-files.js';
import { fileEntry, type Entry } from '../entries.js';
import type { Step, Task } from '../model.js';
import { patchOf, repositorySetup } from './repository.js';
import { runCollectCommands } from './collect-commands.js';
import { declaredArtifacts } from './declared-artifacts.js';
import {
  agentFolders,
  agentNetwork,
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
    const { task } = this.context;
    const program = this.programOf(step, task);
    const isFromImage = task.artifacts.kind === 'container' || task.artifacts.kind === 'paths';
    if (!program && !isFromImage) return { ...noArtifacts, always: true };
    const containers: TaskContainer[] = [];
    try {
      const first = await this.#createContainer(
        step,
        program ?? { files: [], command: ['true'], env: {} },
      );
      containers.push(first);
      const { exitCode, timedOut } = await first.run(step.limits.agent, this.context.signal);
      const output = await first.output();
      const keep = (container: TaskContainer) => this.#keep(container);
      const faults = await runCollectCommands(this.context, step, { containers, keep });
      const artifacts = { ...(await this.#collect(containers)), output };
      const last = containers.at(-1) ?? first;
      if (step !== task.steps.at(-1)) await this.#keep(last);
      const broken = brokenBy(exitCode, output);
      if (broken !== null) return { ...artifacts, broken };
      const exit = exitCode === 0 ? [] : [`The agent’s program exited with code ${exitCode}.`];
      return { ...artifacts, timedOut, always: !program, note: [...exit, ...faults].join('\n') };
    } finally {
      for (const container of containers) this.context.host.discard(container);
    }
  }

  usage() {
    return noUsage;
  }

  async stop(): Promise<void> {
    for (const image of this.#snapshots.toReversed()) await this.context.host.forget(image);
  }

  /** Keeps the state of an ended container as the image of the next one. */
  async #keep(container: TaskContainer): Promise<string> {
    this.#image = await this.context.host.snapshot(container);
    this.#snapshots.push(this.#image);
    return this.#image;
  }

  async #createContainer(step: Step, { files, command, env }: Program): Promise<TaskContainer> {
    const { task, image, host, run } = this.context;
    const { cpus, memoryMb } = task.environment;
    const workdir = workdirOf(this.context);
    const setup = repositorySetup(task);
    const { healthcheck } = task.environment;
    const readyCommand = whenReady(command, {
      ...(healthcheck && { before: healthcheck, entrypoint: image.entrypoint }),
      setup: step.setup,
      after: step.healthcheck,
    });
    return createTask(host, {
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
      ...(await agentNetwork(this.context)),
      files: [
        ...agentFolders(task),
        ...startingFiles(this.context, step),
        fileEntry('/belay/instruction.md', step.instruction),
        ...files,
      ],
    });
  }

  /** The artifacts of a step's ended containers, in their order. */
  async #collect(containers: TaskContainer[]): Promise<Artifacts> {
    const { artifacts } = this.context.task;
    const last = containers.at(-1);
    if (!last) return noArtifacts;
    if (artifacts.kind === 'container') {
      // The engine reports only the changes since the image that a container started from.
      for (const container of containers)
        this.#collected = merge(this.#collected, await changesOf(container));
      return this.#collected;
    }
    if (artifacts.kind === 'patch') return patchOf(this.context, await changesOf(last));
    if (artifacts.kind === 'paths')
      return {
        ...noArtifacts,
        entries: await declaredArtifacts(this.context, last, artifacts.paths),
      };
    const workdir = workdirOf(this.context);
    const entries: Entry[] = [];
    const budget = new ReadBudget();
    for (const path of artifacts.paths)
      entries.push(...(await readFiles(last, posix.resolve(workdir, path), budget)));
    return { ...noArtifacts, entries };
  }
}

/** Why an agent did not run at all, by its exit code; null if it did. */
function brokenBy(exitCode: number, output: string): string | null {
  const line = output.trim().split('\n').at(-1) ?? '';
  if (exitCode === notReady) return line;
  // The shell's code for a missing command.
  return exitCode === 127 ? `The agent’s command was not found: ${line}` : null;
}
