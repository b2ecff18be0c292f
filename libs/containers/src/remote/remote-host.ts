import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  AppError,
  remoteSeen,
  visibleText,
  type Check,
  type hostCalls,
  type hostServerCalls,
} from '@belay/protocol';
import {
  untilAborted,
  WaitingConnections,
  type CallInput,
  type CallName,
  type CallOutput,
  type RpcConnection,
  type RpcStream,
} from '@belay/rpc';
import {
  ContainerHost,
  type Can,
  type ContainerSpec,
  type DialIn,
  type HostImages,
  type HostKeptFiles,
  type Look,
  type ProgramSpec,
  type Seen,
} from '../container-host.js';

/** The server’s end of the connection to the machine. */
export type RemoteConnection = RpcConnection<typeof hostServerCalls, typeof hostCalls>;

/** The longest line of a stream `host.watch`. */
const maxLine = 1_000;

/**
 * The host of another machine, over its connection: see `serveHost`. What the machine says is not trusted: it is bounded,
 * and only containers that were started or adopted here can dial.
 */
export class RemoteHost extends ContainerHost {
  readonly can: Can;
  readonly closedPaths: readonly string[] = [];
  readonly images: HostImages;
  readonly keptFiles: HostKeptFiles;
  readonly #watches = new Set<RpcStream>();
  /** The containers whose dials are admitted. */
  readonly #admitted = new Set<string>();
  readonly #dials = new Map<Duplex, string>();
  #onDial: (id: string, dial: DialIn) => void = (_, { socket }) => void socket.destroy();

  /** `can` is what the machine’s own host can do; folders are the machine’s own affair. */
  constructor(
    readonly name: string,
    private readonly connection: RemoteConnection,
    can: Pick<Can, 'images'>,
  ) {
    super();
    this.can = { ...can, folders: false };
    this.images = this.#imagesOf();
    this.keptFiles = this.#keptFilesOf();
    const server = createServer();
    const waiting = new WaitingConnections(server);
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      waiting.leave(socket);
      const id = this.#dials.get(socket);
      if (id === undefined) socket.destroy();
      else this.#onDial(id, { request, socket, head });
    });
    connection.serve({});
    connection.accept('host.dial', async ({ id }, stream) => {
      if (!this.#admitted.has(id))
        throw new AppError('not_found', 'It is not used by this server.');
      this.#dials.set(stream, id);
      stream.once('close', () => this.#dials.delete(stream));
      server.emit('connection', asSocket(stream));
    });
    // Changes may be missed meanwhile.
    connection.on('disconnected', () => this.#endWatches());
    connection.on('closed', () => this.#endWatches());
  }

  async checks(): Promise<Check[]> {
    return (await this.#call('host.checks', {})).checks;
  }

  async start({ folders, ...spec }: ContainerSpec, signal: AbortSignal): Promise<void> {
    assertNoFolders(folders);
    signal.throwIfAborted();
    this.#admitted.add(spec.id);
    await untilAborted(signal, this.#call('host.start', spec, signal));
  }

  async startProgram(spec: ProgramSpec, signal: AbortSignal): Promise<void> {
    const { folders, scratch, services, ...same } = spec;
    assertNoFolders(folders);
    signal.throwIfAborted();
    this.#admitted.add(spec.id);
    const program = {
      ...same,
      scratch: scratch.map((one) => ({ readOnly: false, ...one })),
      services: services.map((one) => ({ ...one, command: one.command ?? null })),
    };
    await untilAborted(signal, this.#call('host.start-program', program, signal));
  }

  onDial(listener: (id: string, dial: DialIn) => void): void {
    this.#onDial = listener;
  }

  async adopt(id: string): Promise<void> {
    this.#admitted.add(id);
    await this.#call('host.adopt', { id });
  }

  async *watch(signal: AbortSignal): AsyncIterable<Seen | 'synced'> {
    this.#assertConnected();
    const stream = await this.connection.open('host.watch', {});
    this.#watches.add(stream);
    const end = (): void => void stream.destroy();
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    try {
      for await (const line of linesOf(stream)) yield remoteSeen.parse(JSON.parse(line));
    } catch (error) {
      if (!signal.aborted && this.connection.connected) throw error;
    } finally {
      signal.removeEventListener('abort', end);
      this.#watches.delete(stream);
      end();
    }
  }

  async look(id: string): Promise<Look> {
    const { why, ...seen } = await this.#call('host.look', { id });
    return { ...seen, why: why === null ? null : visibleText(why) };
  }

  async rename(id: string, label: string): Promise<void> {
    await this.#call('host.rename', { id, label });
  }

  async browser(id: string): Promise<string> {
    return (await this.#call('host.browser', { id })).endpoint;
  }

  async hasBrowser(id: string): Promise<boolean> {
    return (await this.#call('host.has-browser', { id })).has;
  }

  async remove(id: string): Promise<void> {
    this.#admitted.delete(id);
    this.#endDials(id);
    await this.#call('host.remove', { id });
  }

  async storedFiles(): Promise<string[]> {
    return (await this.#call('host.stored-files', {})).files;
  }

  async removeFiles(files: string): Promise<void> {
    await this.#call('host.remove-files', { files });
  }

  /** The connection stays, for whoever has it. */
  async close(): Promise<void> {
    this.#admitted.clear();
    this.#endDials();
    this.#endWatches();
  }

  #imagesOf(): HostImages {
    return {
      id: async (image) => (await this.#call('host.image', { image })).id ?? undefined,
      firstPath: async (image, paths) =>
        (await this.#call('host.image-path', { image, paths })).path ?? undefined,
      fetch: async (image) => (await this.#call('host.fetch-image', { image })).fetched,
      make: async (id, image) => (await this.#call('host.make-image', { id, ...image })).image,
      made: async () => (await this.#call('host.made-images', {})).images,
      remove: async (image) => void (await this.#call('host.remove-image', { image })),
      release: async (name) => (await this.#call('host.release-image', { name })).released,
    };
  }

  #keptFilesOf(): HostKeptFiles {
    return {
      fill: async (name, tar) => this.#fill(name, tar),
      remove: async (name) => void (await this.#call('host.remove-kept', { name })),
      keepOnly: async (names) => void (await this.#call('host.keep-only', { names })),
    };
  }

  async #fill(name: string, tar: Readable): Promise<void> {
    this.#assertConnected();
    const stream = await this.connection.open('host.fill', { name });
    const stored = once(stream.resume(), 'end');
    await Promise.all([pipeline(tar, stream), stored]);
  }

  #call<K extends CallName<typeof hostCalls>>(
    name: K,
    input: CallInput<typeof hostCalls, K>,
    signal?: AbortSignal,
  ): Promise<CallOutput<typeof hostCalls, K>> {
    this.#assertConnected();
    return this.connection.call(name, input, signal ? { signal } : {});
  }

  #assertConnected(): void {
    if (!this.connection.connected)
      throw new AppError('unavailable', `${this.name} is not connected.`);
  }

  #endWatches(): void {
    for (const stream of this.#watches) stream.destroy();
  }

  #endDials(of?: string): void {
    for (const [socket, id] of this.#dials) if (of === undefined || id === of) socket.destroy();
  }
}

function assertNoFolders(folders: readonly unknown[]): void {
  if (folders.length > 0)
    throw new AppError('invalid_input', 'Folders of another machine cannot be shared.');
}

async function* linesOf(stream: AsyncIterable<Buffer>): AsyncIterable<string> {
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxLine) throw new AppError('invalid_input', 'A line is too long.');
    yield* lines;
  }
}

/** What an HTTP server uses of a socket, for a stream that has nothing of it. */
function asSocket(stream: RpcStream): Duplex {
  const same = (): RpcStream => stream;
  return Object.assign(stream, {
    setTimeout: same,
    setNoDelay: same,
    setKeepAlive: same,
    ref: same,
    unref: same,
    destroySoon: () => void stream.end(),
  });
}
