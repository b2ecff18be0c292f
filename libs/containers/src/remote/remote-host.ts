import { randomUUID } from 'node:crypto';
import { PassThrough, type Duplex, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  AppError,
  errorFrom,
  imageReference,
  visibleText,
  type Check,
  type ErrorCode,
  type hostCalls,
  type hostServerCalls,
  type machineCalls,
  type machineServerCalls,
} from '@belay/protocol';
import { refuse, untilAborted, type CallInput, type RpcConnection, type Servers } from '@belay/rpc';
import {
  ContainerHost,
  type ContainerSpec,
  type DialIn,
  type HostImages,
  type HostKeptFiles,
  type Look,
  type ProgramSpec,
  type Seen,
} from '../container-host.js';
import { watchedTar } from '../watched-tar.js';

/** The connection of a machine that serves its containers, at its server. */
export type HostConnection = Pick<
  RpcConnection<typeof machineServerCalls, typeof machineCalls>,
  'call' | 'connected' | 'on' | 'open'
>;

export interface RemoteHostOptions {
  /** For people. */
  name: string;
  /** Stands for the default image of the machine, whatever that is. */
  image: string;
}

/** Of an agent’s container, or one for programs. */
type StartedSpec = Pick<ContainerSpec, 'folders' | 'id' | 'image' | 'label' | 'labels'>;
type Calls = typeof hostCalls;
type Name = Extract<keyof Calls, string>;

/** How long a call may take, and one in which an image may be pulled. */
const callTimeoutMs = 20_000;
const pullTimeoutMs = 10 * 60_000;
/** The number of reports that wait to be read. */
const mostReports = 10_000;
/** What a host may throw, see `ContainerHost`; the machine may send anything. */
const codes: ReadonlySet<ErrorCode> = new Set([
  'conflict',
  'disk_full',
  'forbidden',
  'invalid_input',
  'limit_reached',
  'not_found',
  'timeout',
]);

/**
 * The containers of another machine, which serves them over its connection with `ServedHost`. Without a connection,
 * everything throws `unavailable` at once, also what was under way: it may have been done. `watch` waits for the
 * connection. The machine is not trusted: it speaks for the containers that were started or adopted here, for no others.
 */
export class RemoteHost extends ContainerHost {
  readonly name: string;
  readonly can = { folders: false, local: false, images: false };
  readonly closedPaths = [];
  readonly images: HostImages;
  readonly keptFiles: HostKeptFiles;
  readonly #image: string;
  /** Of all containers that were started or adopted here: the connections that they have dialled. */
  readonly #dialled = new Map<string, Set<Duplex>>();
  readonly #watches = new Map<string, PassThrough>();
  #link: { connection: HostConnection; cut: AbortController } | undefined;
  #linked = Promise.withResolvers<void>();
  #isClosed = false;
  #onDial: (id: string, dial: DialIn) => void = (_, { socket }) => refuse(socket, nobody());

  constructor({ name, image }: RemoteHostOptions) {
    super();
    this.name = name;
    this.#image = image;
    this.images = this.#imagesThere();
    this.keptFiles = {
      fill: (files, tar) => this.#fill(files, tar),
      remove: async (files) => void (await this.#call('host.removeKeptFiles', { name: files })),
      keepOnly: async (names) =>
        void (await this.#call('host.keepOnlyFiles', { names: [...names] })),
    };
  }

  /** The machine has connected; replaces its earlier connection. */
  connect(connection: HostConnection): void {
    const link = (): void => {
      this.#cut();
      if (this.#isClosed) return;
      this.#link = { connection, cut: new AbortController() };
      this.#linked.resolve();
    };
    const cut = (): void => {
      if (this.#link?.connection === connection) this.#cut();
    };
    connection.on('connected', link).on('disconnected', cut).on('closed', cut);
    if (connection.connected) link();
  }

  /** What the machine calls. */
  get handlers(): Servers<typeof hostServerCalls> {
    return {
      'host.seen': async ({ watch, seen }) => {
        const reports = this.#watches.get(watch);
        if (reports && reports.readableLength + reports.writableLength >= mostReports)
          reports.destroy(this.#away('reports more containers than anyone can use'));
        reports?.write(seen);
        return {};
      },
    };
  }

  /** A connection of this machine, which says that this container has dialled it. */
  dialled(id: string, dial: DialIn): void {
    const { socket } = dial;
    const sockets = this.#dialled.get(id);
    if (!sockets || this.#isClosed) return refuse(socket, nobody());
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    this.#onDial(id, dial);
  }

  onDial(listener: (id: string, dial: DialIn) => void): void {
    this.#onDial = listener;
  }

  async checks(): Promise<Check[]> {
    return (await this.#call('host.checks', {})).checks;
  }

  async start(spec: ContainerSpec, signal: AbortSignal): Promise<void> {
    const { rights, files, keptFiles, placedFiles } = spec;
    const wanted = {
      ...this.#begin(spec),
      rights,
      files,
      env: { ...spec.env },
      keptFiles: [...keptFiles],
      placedFiles: [...placedFiles],
    };
    await this.#call('host.start', wanted, { signal, timeoutMs: pullTimeoutMs });
  }

  async startProgram(spec: ProgramSpec, signal: AbortSignal): Promise<void> {
    const { rights, user, limits, workspace, archive, writtenMb } = spec;
    const wanted = {
      ...this.#begin(spec),
      rights,
      user,
      limits,
      workspace,
      writtenMb,
      archive: archive && new Uint8Array(archive),
      scratch: [...spec.scratch],
      services: spec.services.map(({ command, env, ...service }) => ({
        ...service,
        env: { ...env },
        command: command && [...command],
      })),
    };
    await this.#call('host.startProgram', wanted, { signal, timeoutMs: pullTimeoutMs });
  }

  /** Its machine admits what it finds running, so no call is needed. */
  async adopt(id: string): Promise<void> {
    this.#admit(id);
  }

  async *watch(signal: AbortSignal): AsyncIterable<Seen | 'synced'> {
    const left = new AbortController();
    const watch = randomUUID();
    const reports = new PassThrough({ objectMode: true });
    try {
      await untilAborted(signal, this.#linked.promise);
      this.#watches.set(watch, reports);
      const stop = AbortSignal.any([signal, left.signal]);
      this.#call('host.watch', { watch }, { signal: stop, timeoutMs: null }).then(
        () => reports.destroy(this.#away('does not report its containers')),
        (error: unknown) => reports.destroy(errorFrom(error)),
      );
      yield* reports as AsyncIterable<Seen | 'synced'>;
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#watches.delete(watch);
      left.abort();
    }
  }

  async look(id: string): Promise<Look> {
    const { state, why, cause } = await this.#call('host.look', { id });
    return { state, why: why && visibleText(why), cause };
  }

  async rename(id: string, label: string): Promise<void> {
    await this.#call('host.rename', { id, label });
  }

  async browser(id: string): Promise<string> {
    return (await this.#call('host.browser', { id }, { timeoutMs: pullTimeoutMs })).endpoint;
  }

  async hasBrowser(id: string): Promise<boolean> {
    return (await this.#call('host.hasBrowser', { id })).has;
  }

  async remove(id: string): Promise<void> {
    for (const socket of this.#dialled.get(id) ?? []) socket.destroy();
    this.#dialled.delete(id);
    await this.#call('host.remove', { id });
  }

  async hasFiles(files: string): Promise<boolean> {
    return (await this.#call('host.hasFiles', { files })).has;
  }

  async storedFiles(): Promise<string[]> {
    return (await this.#call('host.storedFiles', {})).files;
  }

  async removeFiles(files: string): Promise<void> {
    await this.#call('host.removeFiles', { files });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cut();
    for (const sockets of this.#dialled.values()) for (const socket of sockets) socket.destroy();
  }

  #cut(): void {
    if (!this.#link) return;
    this.#link.cut.abort();
    this.#link = undefined;
    this.#linked = Promise.withResolvers();
  }

  #admit(id: string): void {
    if (!this.#dialled.has(id)) this.#dialled.set(id, new Set());
  }

  /** A call without a time limit goes on until the connection breaks. */
  async #call<K extends Name>(
    name: K,
    input: CallInput<Calls, K>,
    { signal, timeoutMs = callTimeoutMs }: { signal?: AbortSignal; timeoutMs?: number | null } = {},
  ) {
    signal?.throwIfAborted();
    const { connection, cut } = this.#link ?? this.#notLinked();
    const late = timeoutMs === null ? undefined : AbortSignal.timeout(timeoutMs);
    const ends = [cut.signal, late, signal].filter((one) => one !== undefined);
    try {
      return await (connection as RpcConnection<never, Calls>).call(name, input, {
        signal: AbortSignal.any(ends),
      });
    } catch (error) {
      signal?.throwIfAborted();
      if (cut.signal.aborted) throw this.#away('lost its connection meanwhile');
      if (late?.aborted) throw this.#away(`did not respond within ${(timeoutMs ?? 0) / 1_000} s`);
      const { code, message } = errorFrom(error);
      throw new AppError(codes.has(code) ? code : 'unavailable', visibleText(message));
    }
  }

  /** A tar that breaks off is reported once the machine has removed what it had of it. */
  async #fill(name: string, tar: Readable): Promise<void> {
    const { connection, cut } = this.#link ?? this.#notLinked();
    const fill = randomUUID();
    let failure: unknown;
    const { archive, broken } = watchedTar(tar);
    broken.addEventListener('abort', () => (failure ??= broken.reason));
    const stream = await untilAborted(cut.signal, connection.open('host.fill', { fill }));
    const sent = pipeline(archive, stream.resume());
    const filled = this.#call('host.fill', { name, fill }, { timeoutMs: null });
    filled.catch((error: Error) => {
      failure ??= error;
      stream.destroy(error);
    });
    await Promise.allSettled([sent, filled]);
    if (failure !== undefined) throw failure;
  }

  /** The machine’s images are its user’s: none is made, and none is removed. */
  #imagesThere(): HostImages {
    return {
      id: async (image) => {
        if (!imageReference.safeParse(image).success) return undefined;
        const { id } = await this.#call('host.imageId', { image: this.#imageThere(image) });
        return id ?? undefined;
      },
      has: async (image) =>
        (await this.#call('host.hasImage', { image: this.#imageThere(image) })).has,
      firstPath: async (image, paths) => {
        const wanted = { image: this.#imageThere(image), paths: [...paths] };
        const { path } = await this.#call('host.firstPath', wanted, { timeoutMs: pullTimeoutMs });
        return path ?? undefined;
      },
      fetch: async (image) => {
        const wanted = { image: this.#imageThere(image) };
        return (await this.#call('host.fetchImage', wanted, { timeoutMs: pullTimeoutMs })).fetched;
      },
      make: async () => {
        throw this.#away('makes no images');
      },
      madeAs: async () => undefined,
      made: async () => [],
      remove: async () => {},
      release: async () => false,
    };
  }

  #imageThere(image: string): string | null {
    return image === this.#image ? null : image;
  }

  /** What the calls for all containers have in common. Its machine may speak for the container from now on. */
  #begin({ id, label, labels, image, folders }: StartedSpec) {
    if (folders.length > 0) throw new AppError('forbidden', `${this.name} shares no folders.`);
    this.#admit(id);
    return { id, label, labels, image: this.#imageThere(image) };
  }

  #notLinked(): never {
    throw this.#away('is not connected: run “belay join” there again');
  }

  #away(what: string): AppError {
    return new AppError('unavailable', `${this.name} ${what}.`);
  }
}

const nobody = (): AppError =>
  new AppError('unavailable', 'Nobody listens to this container of the machine.');
