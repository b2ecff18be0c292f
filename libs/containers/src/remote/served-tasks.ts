import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError, ignoreError, type taskCalls } from '@belay/protocol';
import type { CallInput, RpcConnection, Servers } from '@belay/rpc';
import type { Limits } from '../container-host.js';
import type { ProgramTasks } from '../program-tasks.js';
import type { TaskContainer, TaskEngine } from '../task-host.js';
import { MachineRules, type MachineRulesOptions } from './machine-rules.js';

export interface ServedTasksOptions extends MachineRulesOptions {
  host: TaskEngine | ProgramTasks;
  /** How long runs stay while there is no connection to the server. */
  leaseMs?: number;
  /** How its user gives a container more than the limits; by default, for a machine that has joined. */
  limitsRemedy?: string;
}

type Connection = Pick<RpcConnection<typeof taskCalls, never>, 'accept' | 'on' | 'serve'>;
type Wanted = CallInput<typeof taskCalls, 'task.create'>;

/** Of one evaluation. */
interface Run {
  readonly name: string;
  readonly containers: Map<string, TaskContainer>;
  readonly snapshots: Set<string>;
  readonly stop: () => void;
  /** Resolves when nothing is left of an earlier process of the evaluation. */
  readonly ready: Promise<void>;
}

/** The name of images from other machines, whose tag says which one it is. */
const shippedImages = 'belay/evaluation-shipped';
const defaultLeaseMs = 30_000;
const joinRemedy = 'run “belay join” there with --memory and --cpus';

/**
 * Runs tasks of evaluations for a server, which is not trusted: in images that were sent here and have a name that the
 * user of this machine allows, without a network, within the limits, and in no containers but those. What a run has
 * begun ends with its `task.guard`, with this process, and when the server has been away for `leaseMs`.
 */
export class ServedTasks {
  readonly #options: ServedTasksOptions;
  readonly #rules: MachineRules;
  readonly #runs = new Map<string, Run>();
  /** The names of images that are pulled, by their ids. */
  readonly #pulled = new Map<string, string>();
  #lease: NodeJS.Timeout | undefined;

  constructor(options: ServedTasksOptions) {
    this.#options = options;
    this.#rules = new MachineRules(options);
  }

  serve(connection: Connection): void {
    connection.serve(this.#handlers());
    connection.accept('task.image', async ({ image }, stream) => {
      this.#assertAllowed();
      // The stream stays open for the answer.
      const archive = Readable.from(stream.iterator({ destroyOnReturn: false }));
      this.#engine.load(shippedName(image), archive).then(
        () => stream.end(),
        (error: Error) => stream.destroy(error),
      );
    });
    connection.accept('task.files', async ({ id, path }, stream) => {
      const files = await this.#task(id).archiveOf(path);
      if (!files) throw new AppError('not_found', `There is no ${path}.`);
      pipeline(files, stream).catch(ignoreError('the reader sees that it breaks off'));
    });
    connection.on('disconnected', () => {
      clearTimeout(this.#lease);
      const leaseMs = this.#options.leaseMs ?? defaultLeaseMs;
      this.#lease = setTimeout(() => void this.close(), leaseMs).unref();
    });
    connection.on('connected', () => clearTimeout(this.#lease));
  }

  /** Ends all runs. */
  async close(): Promise<void> {
    clearTimeout(this.#lease);
    await Promise.all([...this.#runs.values()].map((run) => this.#end(run)));
  }

  get #host(): TaskEngine | ProgramTasks {
    return this.#options.host;
  }

  /** Throws `forbidden` for a host that is given no images. */
  get #engine(): TaskEngine {
    if (loads(this.#host)) return this.#host;
    throw new AppError('forbidden', 'The machine takes no images: its nodes pull them.');
  }

  #handlers(): Servers<typeof taskCalls> {
    return {
      'task.capacity': async () => {
        this.#assertAllowed();
        const { lacks, ...given } = await this.#host.capacity();
        return { ...given, lacks: [...new Set(['network', ...lacks] as const)] };
      },
      'task.guard': async ({ run: name }, { signal }) => {
        const run = this.#begin(name);
        if (!signal.aborted) await once(signal, 'abort');
        await this.#end(run);
        return {};
      },
      'task.hasImage': async ({ image, name }) => ({ has: await this.#has(image, name) }),
      'task.create': (wanted) => this.#create(wanted),
      'task.run': async ({ id, seconds }, { signal }) => {
        const exit = await this.#task(id).run(seconds, signal);
        // One that was ended with its run says nothing about its task.
        this.#task(id);
        return exit;
      },
      'task.start': ({ id }) => done(this.#task(id).start()),
      'task.state': ({ id }) => this.#task(id).state(),
      'task.tail': async ({ id, lines }) => ({ text: await this.#task(id).tail(lines) }),
      'task.exec': ({ id, command, ...options }, { signal }) =>
        this.#task(id).exec(command, { ...options, signal }),
      'task.output': async ({ id }) => ({ text: Buffer.from(await this.#task(id).output()) }),
      'task.changes': async ({ id }) => ({ changes: await this.#task(id).changes() }),
      'task.remove': async ({ id }) => {
        const run = this.#runOf(id);
        await run?.containers.get(id)?.remove();
        run?.containers.delete(id);
        return {};
      },
      'task.snapshot': async ({ id }) => {
        const image = await this.#host.snapshot(this.#task(id));
        const run = this.#runOf(id);
        if (run) run.snapshots.add(image);
        else await this.#host.forget(image);
        return { image };
      },
      'task.forget': async ({ image }) => {
        for (const { snapshots } of this.#runs.values())
          if (snapshots.delete(image)) await this.#host.forget(image);
        return {};
      },
    };
  }

  async #has(image: string, name: string): Promise<boolean> {
    const host = this.#host;
    if (loads(host)) {
      this.#assertAllowed();
      return (await host.image(shippedName(image))) !== undefined;
    }
    await host.assertImage(this.#rules.image(name));
    this.#pulled.set(image, name);
    return true;
  }

  #begin(name: string): Run {
    const before = this.#runs.get(name);
    const ready = before ? this.#end(before) : Promise.resolve();
    ready.catch(ignoreError('the first container says so'));
    // Runs of this machine’s own have other names.
    const stop = this.#host.guard(`${this.#options.prefix}${name}`);
    const run = { name, containers: new Map(), snapshots: new Set<string>(), stop, ready };
    this.#runs.set(name, run);
    return run;
  }

  async #end(run: Run): Promise<void> {
    const { name, snapshots, stop } = run;
    if (this.#runs.get(name) !== run) return;
    this.#runs.delete(name);
    const { prefix } = this.#options;
    await this.#host.sweep(`${prefix}${name}`);
    for (const image of [...snapshots].toReversed()) await this.#host.forget(image);
    stop();
  }

  async #create({ run: name, archive, ...wanted }: Wanted): Promise<{ id: string }> {
    const { prefix } = this.#options;
    const run = this.#runs.get(name);
    if (!run) throw new AppError('conflict', 'This evaluation has ended here.');
    await run.ready;
    this.#assertWithin(wanted);
    const task = await this.#host.create({
      ...wanted,
      image: run.snapshots.has(wanted.image) ? wanted.image : this.#imageOf(wanted.image),
      network: this.#network(wanted.network),
      hosts: wanted.hosts ?? [],
      run: `${prefix}${name}`,
      archive: Buffer.from(archive),
    });
    run.containers.set(task.id, task);
    // It may have ended meanwhile.
    if (this.#runs.get(name) === run) return { id: task.id };
    await task.remove();
    throw new AppError('conflict', 'This evaluation has ended here.');
  }

  #imageOf(id: string): string {
    if (loads(this.#host)) {
      this.#assertAllowed();
      return shippedName(id);
    }
    const name = this.#pulled.get(id);
    if (name === undefined)
      throw new AppError('conflict', 'The machine was not told of this image.');
    return name;
  }

  #network(wanted: Wanted['network']): 'none' | `container:${string}` {
    if (wanted === 'none') return wanted;
    if (wanted === 'bridge')
      throw new AppError('forbidden', 'The machine gives tasks of evaluations no network.');
    return `container:${this.#task(wanted.slice('container:'.length)).id}`;
  }

  #assertWithin({ cpus, memoryMb }: Limits): void {
    const { limits, limitsRemedy = joinRemedy } = this.#options;
    if (memoryMb <= limits.memoryMb && cpus <= limits.cpus) return;
    throw new AppError(
      'forbidden',
      `The task needs ${memoryMb} MB of memory and ${cpus} CPUs, but the machine gives a container at most ${limits.memoryMb} MB and ${limits.cpus}: ${limitsRemedy}.`,
    );
  }

  #assertAllowed(): void {
    if (this.#rules.allows(shippedImages)) return;
    throw new AppError(
      'forbidden',
      `The machine does not run tasks of evaluations: run “belay join” there with --allow-image ${shippedImages}.`,
    );
  }

  #task(id: string): TaskContainer {
    const task = this.#runOf(id)?.containers.get(id);
    if (task) return task;
    throw new AppError('conflict', 'The machine has no such container of an evaluation.');
  }

  #runOf(id: string): Run | undefined {
    return [...this.#runs.values()].find(({ containers }) => containers.has(id));
  }
}

const loads = (host: TaskEngine | ProgramTasks): host is TaskEngine => 'load' in host;

const shippedName = (image: string): string =>
  `${shippedImages}:${image.slice(image.indexOf(':') + 1)}`;

async function done(work: Promise<void>): Promise<Record<string, never>> {
  await work;
  return {};
}
