import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError, errorFrom, ignoreError } from '@belay/protocol';
import { untilAborted } from '@belay/rpc';
import type { ContainerHost, Limits } from './container-host.js';
import { ProgramContainer, type ProgramContainerOptions } from './program-container.js';
import { ProgramTask, type AddedFiles, type ProgramTaskOptions } from './program-task.js';
import {
  TaskHost,
  type NamedImage,
  type TaskCapacity,
  type TaskContainer,
  type TaskEngine,
  type TaskSpec,
} from './task-host.js';

export interface ProgramTasksOptions extends Pick<ProgramContainerOptions, 'dials' | 'host'> {
  images: Pick<ContainerHost['images'], 'fetch'>;
  /** What all tasks may use together. */
  capacity: Limits;
}

/** Those of a snapshot, with the paths that a container has with them. */
interface Snapshot extends AddedFiles {
  image: string;
  paths: ReadonlySet<string>;
}

/** What a task may write to the files of its image. */
const writtenMb = 10_240;
const never = new AbortController().signal;

/**
 * Tasks on a host that cannot look into a container that has ended: the starter begins in each, runs the task’s command,
 * and reads what it has left once all of its processes have ended. Nothing of ours runs beside the command but the
 * starter, which not even root can trace. The containers end by themselves soon after this process.
 */
export class ProgramTasks extends TaskHost {
  readonly #tasks = new Map<string, ProgramTask>();
  readonly #snapshots = new Map<string, Snapshot>();
  readonly #fetched = new Map<string, Promise<unknown>>();
  /** By run and image. */
  readonly #paths = new Map<string, Map<string, Promise<ReadonlySet<string>>>>();
  readonly #removals = new Set<Promise<void>>();

  constructor(private readonly options: ProgramTasksOptions) {
    super();
  }

  async capacity(): Promise<TaskCapacity> {
    return { ...this.options.capacity, lacks: ['network', 'services'] };
  }

  /** Images come from registries, by their names. */
  provide({ name }: NamedImage, _from: TaskEngine, signal: AbortSignal): Promise<void> {
    return untilAborted(signal, this.assertImage(name));
  }

  /** Throws `unavailable` for an image that cannot be fetched. */
  async assertImage(name: string): Promise<void> {
    let fetched = this.#fetched.get(name);
    if (!fetched) {
      fetched = this.options.images.fetch(name);
      this.#fetched.set(name, fetched);
      fetched.catch(() => this.#fetched.delete(name));
    }
    try {
      await fetched;
    } catch (error) {
      const { message } = errorFrom(error);
      throw new AppError(
        'unavailable',
        `${message} Images of tasks are not sent to ${this.options.host.name}: its nodes need them, or a registry that they pull them from.`,
      );
    }
  }

  async create(spec: TaskSpec): Promise<ProgramTask> {
    if (spec.network !== 'none')
      throw new AppError(
        'unavailable',
        `${this.options.host.name} gives tasks of benchmarks neither a network nor services.`,
      );
    const snapshot = this.#snapshots.get(spec.image);
    const image = snapshot?.image ?? spec.image;
    const imagePaths = snapshot ? async () => snapshot.paths : () => this.#pathsOf(spec.run, image);
    const task = await this.#started({ ...spec, image }, imagePaths);
    try {
      await task.prepare(snapshot);
      return task;
    } catch (error) {
      this.discard(task);
      throw error;
    }
  }

  /** Nothing to do: see above. */
  guard(): () => void {
    return () => {};
  }

  discard(container: TaskContainer): void {
    const removal = container
      .remove()
      .catch(ignoreError('it ends by itself'))
      .finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  /** What differs from the image of its engine, in a file of this process. */
  async snapshot(container: TaskContainer): Promise<string> {
    const task = this.#known(container);
    const { run, image } = task.spec;
    const [before, listed] = [await this.#pathsOf(run, image), await task.listing()];
    const paths = new Set(listed.keys());
    const id = randomBytes(32).toString('hex');
    const file = join(await mkdtemp(join(tmpdir(), 'belay-task-')), 'snapshot.tar');
    const removed = [...before].filter((path) => !paths.has(path));
    this.#snapshots.set(id, { image, file, removed, paths });
    try {
      await pipeline(await task.allAdded(), createWriteStream(file));
    } catch (error) {
      await this.forget(id);
      throw error;
    }
    return id;
  }

  async forget(id: string): Promise<void> {
    const snapshot = this.#snapshots.get(id);
    this.#snapshots.delete(id);
    if (snapshot) await rm(dirname(snapshot.file), { recursive: true, force: true });
  }

  async sweep(run: string): Promise<number> {
    await Promise.all(this.#removals);
    const left = [...this.#tasks].filter(([, task]) => task.spec.run === run);
    await Promise.all(left.map(([, task]) => this.#remove(task)));
    this.#paths.delete(run);
    return left.length;
  }

  async #started(
    spec: TaskSpec,
    imagePaths: ProgramTaskOptions['imagePaths'],
  ): Promise<ProgramTask> {
    const { host, dials } = this.options;
    const { image, memoryMb, cpus } = spec;
    const id = randomBytes(6).toString('hex');
    const container = new ProgramContainer(
      {
        id,
        label: 'task',
        labels: {},
        image,
        // Tasks are root of their container unless they say otherwise.
        rights: 'build',
        user: 0,
        limits: { memoryMb, cpus },
        scratch: [],
        workspace: null,
        folders: [],
        services: [],
        archive: null,
        writtenMb,
      },
      { host, dials, services: { connect: refused }, warn: () => {} },
    );
    await container.start(never);
    const task = new ProgramTask({ container, spec, imagePaths });
    this.#tasks.set(id, task);
    return task;
  }

  /** The paths of an image, as a container has them in which nothing has run. Kept until the run ends. */
  #pathsOf(run: string, image: string): Promise<ReadonlySet<string>> {
    const known = this.#paths.get(run) ?? new Map<string, Promise<ReadonlySet<string>>>();
    this.#paths.set(run, known);
    const found = known.get(image) ?? this.#listed(run, image);
    known.set(image, found);
    found.catch(() => known.delete(image));
    return found;
  }

  async #listed(run: string, image: string): Promise<ReadonlySet<string>> {
    const spec: TaskSpec = {
      run,
      image,
      command: null,
      user: null,
      workdir: null,
      env: {},
      cpus: 1,
      memoryMb: 256,
      network: 'none',
      archive: Buffer.alloc(0),
    };
    const task = await this.#started(spec, async () => new Set());
    try {
      return new Set((await task.listing()).keys());
    } finally {
      this.discard(task);
    }
  }

  async #remove(task: ProgramTask): Promise<void> {
    await task.remove();
    this.#tasks.delete(task.id);
  }

  #known({ id }: TaskContainer): ProgramTask {
    const task = this.#tasks.get(id);
    if (task) return task;
    throw new AppError('conflict', 'There is no such container of a task.');
  }
}

async function refused(): Promise<never> {
  throw new AppError('forbidden', 'Tasks of benchmarks have no network.');
}
