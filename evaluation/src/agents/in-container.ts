import { posix } from 'node:path';
import { after, changesOf, nothing, type Submission } from '../carry.js';
import type { Box } from '../engine/box.js';
import { notReady, whenReady } from '../engine/readiness.js';
import { file, folder, ownedBy, type Entry } from '../entries.js';
import type { Step, Task } from '../model.js';
import { patchOf, repositorySetup } from './repository.js';
import { free, startingFiles, workdirOf, type Agent, type Assignment, type Work } from './agent.js';

/** What a program needs to work on a step. */
export interface Program {
  files: Entry[];
  command: string[];
  env: Record<string, string>;
}

/** An agent that is a program in the task's container; `null` is a step that it leaves as it is. */
export function containerAgent(
  name: string,
  programOf: (step: Step, task: Task) => Program | null,
): Agent {
  return { name, model: null, begin: async (assignment) => new InContainer(assignment, programOf) };
}

/** The container is kept between steps as an image, since each step is a program of its own. */
class InContainer implements Work {
  #image: string;
  #snapshots: string[] = [];
  #carried = nothing;

  constructor(
    private readonly assignment: Assignment,
    private readonly programOf: (step: Step, task: Task) => Program | null,
  ) {
    this.#image = assignment.image.name;
  }

  async step(step: Step): Promise<Submission> {
    const { task, engine } = this.assignment;
    const program = this.programOf(step, task);
    if (!program && task.carries.kind !== 'container') return { ...nothing, always: true };
    const box = await this.#box(step, program ?? { files: [], command: ['true'], env: {} });
    try {
      const { exitCode, timedOut } = await box.run(step.limits.agent, this.assignment.signal);
      const submission = await this.#handIn(box);
      const more = step !== task.steps.at(-1);
      if (more) {
        this.#image = await engine.snapshot(box);
        this.#snapshots.push(this.#image);
      }
      if (exitCode === notReady)
        return { ...submission, broken: (await box.output()).trim().split('\n').at(-1) ?? '' };
      const note = exitCode === 0 ? '' : `The agent’s program ended with code ${exitCode}.`;
      return { ...submission, timedOut, always: !program, note };
    } finally {
      engine.discard(box);
    }
  }

  spent() {
    return free;
  }

  async end(): Promise<void> {
    for (const image of this.#snapshots.toReversed()) await this.assignment.engine.forget(image);
  }

  async #box(step: Step, { files, command, env }: Program): Promise<Box> {
    const { task, image, engine, run, network } = this.assignment;
    const { cpus, memoryMb } = task.environment;
    const workdir = workdirOf(this.assignment);
    const setup = repositorySetup(task);
    const { healthcheck } = task.environment;
    const begun = whenReady(command, {
      ...(healthcheck && { before: healthcheck, entrypoint: image.entrypoint }),
      setup: step.setup,
      after: step.healthcheck,
    });
    return engine.create({
      run,
      image: this.#image,
      command: setup ? ['bash', '-c', `${setup} && exec "$@"`, 'setup', ...begun] : begun,
      user: task.user ?? (image.user || 'root'),
      workdir,
      env: { ...task.environment.env, ...env },
      cpus,
      memoryMb,
      network: network === 'declared' ? task.environment.network : 'none',
      files: [
        ...agentFolders(task),
        ...startingFiles(this.assignment, step),
        file('/belay/instruction.md', step.instruction),
        ...files,
      ],
    });
  }

  async #handIn(box: Box): Promise<Submission> {
    const { task } = this.assignment;
    const workdir = workdirOf(this.assignment);
    if (task.carries.kind === 'container') {
      // A snapshot's own changes are those since the step before.
      this.#carried = after(this.#carried, await changesOf(box));
      return this.#carried;
    }
    if (task.carries.kind === 'patch') {
      const changes = await changesOf(box);
      return patchOf(this.assignment, changes);
    }
    const base = task.carries.kind === 'files' ? workdir : '/';
    const entries: Entry[] = [];
    for (const path of task.carries.paths)
      entries.push(...(await box.read(posix.resolve(base, path))));
    return { ...nothing, entries };
  }
}

/** Folders that formats promise to an agent, writable for any user. */
function agentFolders({ carries }: Task): Entry[] {
  if (carries.kind !== 'container' && carries.kind !== 'artifacts') return [];
  return ownedBy(
    ['/logs', '/logs/agent', '/logs/artifacts', '/agent-logs'].map((path) => folder(path, 0o777)),
    0,
  );
}
