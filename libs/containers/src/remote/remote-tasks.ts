import type { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import {
  AppError,
  errorFrom,
  ignoreError,
  visibleText,
  type StreamMeta,
  type taskCalls,
} from '@belay/protocol';
import { untilAborted, type CallInput, type RpcConnection, type RpcStream } from '@belay/rpc';
import {
  TaskHost,
  type ContainerChange,
  type NamedImage,
  type TaskCapacity,
  type TaskContainer,
  type TaskEngine,
  type TaskExit,
  type TaskSpec,
  type TaskState,
} from '../task-host.js';

type Calls = typeof taskCalls;
type Connection = Pick<
  RpcConnection<Record<never, never>, Calls>,
  'call' | 'close' | 'connected' | 'on' | 'open'
>;

export interface RemoteTasksOptions {
  /** For people. */
  name: string;
  connection: Connection;
  /** How long the connection may be interrupted. */
  leaseMs?: number;
}

const defaultLeaseMs = 30_000;
/** How long a call may take, beyond the time of what it runs. */
const callTimeoutMs = 10 * 60_000;

/**
 * Tasks on another machine, which runs them with `ServedTasks`. Images are sent there when it does not have them.
 * Everything throws `unavailable` in a sentence for the user, whatever the machine has answered; once it is away, at
 * once. The machine is not trusted, but nothing tells a wrong result from a right one: who uses it says so.
 */
export class RemoteTasks extends TaskHost {
  readonly name: string;
  readonly #connection: Connection;
  readonly #away = new AbortController();
  /** The ids of images there, by their names here. */
  readonly #images = new Map<string, string>();
  readonly #provided = new Map<string, Promise<void>>();
  readonly #removals = new Set<Promise<void>>();

  constructor({ name, connection, leaseMs = defaultLeaseMs }: RemoteTasksOptions) {
    super();
    this.name = name;
    this.#connection = connection;
    let lease: NodeJS.Timeout | undefined;
    const wait = () => (lease ??= setTimeout(() => this.#leave(), leaseMs).unref());
    connection.on('closed', () => this.#leave()).on('disconnected', wait);
    this.away.addEventListener('abort', () => clearTimeout(lease));
    connection.on('connected', () => {
      clearTimeout(lease);
      lease = undefined;
    });
    if (!connection.connected) wait();
  }

  /** Aborted when the machine is away for good. */
  get away(): AbortSignal {
    return this.#away.signal;
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  capacity(): Promise<TaskCapacity> {
    return this.call('task.capacity', {});
  }

  async provide(image: NamedImage, from: TaskEngine, signal: AbortSignal): Promise<void> {
    this.#images.set(image.name, image.id);
    let provided = this.#provided.get(image.id);
    if (!provided) {
      provided = this.#send(image, from);
      this.#provided.set(image.id, provided);
      provided.catch(() => this.#provided.delete(image.id));
    }
    await untilAborted(signal, provided);
  }

  async create({ image, archive, ...spec }: TaskSpec): Promise<TaskContainer> {
    const id = this.#images.get(image) ?? image;
    const wanted = { ...spec, image: id, archive: new Uint8Array(archive) };
    return new RemoteTask(this, (await this.call('task.create', wanted)).id);
  }

  guard(run: string): () => void {
    const over = new AbortController();
    this.call('task.guard', { run }, { signal: over.signal, timeoutMs: null }).catch(
      ignoreError('the run sees that it is away'),
    );
    return () => over.abort();
  }

  discard(container: TaskContainer): void {
    const removal = container
      .remove()
      .catch(ignoreError('it goes with its run'))
      .finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  async snapshot({ id }: TaskContainer): Promise<string> {
    return (await this.call('task.snapshot', { id })).image;
  }

  /** Images that are left go with their run. */
  async forget(image: string): Promise<void> {
    await this.call('task.forget', { image }).catch(ignoreError('it goes with its run'));
  }

  /** The machine has removed what an earlier process of the run has left. */
  async sweep(): Promise<number> {
    await Promise.all(this.#removals);
    return 0;
  }

  /** A call without a time limit lasts until the machine is away. */
  async call<K extends Extract<keyof Calls, string>>(
    name: K,
    input: CallInput<Calls, K>,
    { signal, timeoutMs = callTimeoutMs }: { signal?: AbortSignal; timeoutMs?: number | null } = {},
  ) {
    this.away.throwIfAborted();
    const late = timeoutMs === null ? undefined : AbortSignal.timeout(timeoutMs);
    const ends = [this.away, late, signal].filter((one) => one !== undefined);
    try {
      return await this.#connection.call(name, input, { signal: AbortSignal.any(ends) });
    } catch (error) {
      signal?.throwIfAborted();
      throw late?.aborted ? this.#refusal('did not respond in time.') : this.#thrown(error);
    }
  }

  /** Throws `not_found` as the machine does. */
  async open<N extends 'task.files' | 'task.image'>(
    name: N,
    meta: StreamMeta<N>,
  ): Promise<RpcStream> {
    this.away.throwIfAborted();
    try {
      return await untilAborted(this.away, this.#connection.open(name, meta));
    } catch (error) {
      throw errorFrom(error).code === 'not_found' ? error : this.#thrown(error);
    }
  }

  async #send({ id, name }: NamedImage, from: TaskEngine): Promise<void> {
    if ((await this.call('task.hasImage', { image: id, name })).has) return;
    try {
      const [stream, archive] = await Promise.all([
        this.open('task.image', { image: id }),
        from.save(id),
      ]);
      stream.resume();
      await Promise.all([pipeline(archive, stream), finished(stream, { writable: false })]);
    } catch (error) {
      throw this.#thrown(error);
    }
  }

  #leave(): void {
    this.#away.abort(this.#refusal('lost its connection.'));
    void this.#connection.close();
  }

  #thrown(error: unknown): unknown {
    // The server has ended the connection, and does not admit another.
    if (errorFrom(error).code === 'unauthorized') this.#leave();
    if (this.away.aborted) return this.away.reason;
    return this.#refusal(`says: ${errorFrom(error).message}`);
  }

  #refusal(what: string): AppError {
    return new AppError('unavailable', visibleText(`${this.name} ${what}`));
  }
}

/** A container there. */
class RemoteTask implements TaskContainer {
  constructor(
    private readonly host: RemoteTasks,
    readonly id: string,
  ) {}

  run(seconds: number, signal: AbortSignal): Promise<TaskExit> {
    const timeoutMs = callTimeoutMs + seconds * 1_000;
    return this.host.call('task.run', { id: this.id, seconds }, { signal, timeoutMs });
  }

  async start(): Promise<void> {
    await this.host.call('task.start', { id: this.id });
  }

  state(): Promise<TaskState> {
    return this.host.call('task.state', { id: this.id });
  }

  async tail(lines: number): Promise<string> {
    return (await this.host.call('task.tail', { id: this.id, lines })).text;
  }

  exec(
    command: string[],
    { signal, ...options }: { user: string | null; seconds: number; signal: AbortSignal },
  ): Promise<TaskExit & { output: string }> {
    const timeoutMs = callTimeoutMs + options.seconds * 1_000;
    const wanted = { id: this.id, command, ...options };
    return this.host.call('task.exec', wanted, { signal, timeoutMs });
  }

  async output(): Promise<string> {
    return Buffer.from((await this.host.call('task.output', { id: this.id })).text).toString();
  }

  async archiveOf(path: string): Promise<Readable | undefined> {
    try {
      const stream = await this.host.open('task.files', { id: this.id, path });
      stream.end();
      return stream;
    } catch (error) {
      if (errorFrom(error).code === 'not_found') return undefined;
      throw error;
    }
  }

  async changes(): Promise<ContainerChange[]> {
    return (await this.host.call('task.changes', { id: this.id })).changes;
  }

  async remove(): Promise<void> {
    await this.host.call('task.remove', { id: this.id });
  }
}
