import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Duplex, Readable, Writable } from 'node:stream';
import {
  AppError,
  errorFrom,
  ignoreError,
  programCalls,
  programServerCalls,
  type ProgramStart,
  type StreamMeta,
} from '@belay/protocol';
import {
  inTime,
  outputPieces,
  rpcServer,
  untilAborted,
  type RpcConnection,
  type OutputPiece,
  type RpcServer,
} from '@belay/rpc';
import type { ContainerHost, DialIn, Look, ProgramSpec } from './container-host.js';

/** How a program ended, as far as it is known. */
export interface ProgramEnd {
  code?: number;
  outOfMemory?: boolean;
  /** Its container wrote more than it may, and was removed. */
  wroteTooMuch?: boolean;
}

export interface RunningProgram {
  readonly input: Writable;
  /** The program’s untrusted output; ends when the program has ended. */
  readonly output: AsyncIterable<OutputPiece>;
  /** Resolves when the program has ended and its container is removed, unless it is kept. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Closes its input, waits a moment, then kills it; resolves like `ended`. */
  stop(): Promise<ProgramEnd>;
}

/** Services for programs in a container; each rejects with an `AppError` when it is refused. */
export interface ProgramServices {
  /** Returns a function that takes over the stream of a granted connection. */
  connect(target: { host: string; port: number }): Promise<(stream: Duplex) => void>;
  /** For the files that a program leaves. */
  takeFiles?(stream: Duplex): void;
}

export interface ProgramContainerOptions {
  host: ProgramHost;
  /** Who takes the connections that containers dial. */
  dials: { admit(id: string, take: (dial: DialIn) => void): void; remove(id: string): void };
  services: ProgramServices;
  /** Receives what goes wrong and nobody else is told. */
  warn(sentence: string): void;
}

/** The part of a host that containers of programs need. */
export type ProgramHost = Pick<ContainerHost, 'look' | 'name' | 'remove' | 'startProgram'>;

type Starter = RpcConnection<typeof programServerCalls, typeof programCalls>;

/** From the start of a container to the dial of its starter. */
const dialTimeoutMs = 60_000;
/** The interval at which a container that does not dial, or has broken off, is looked at. */
const lookMs = 500;
/** The time between the end of a program’s input and its kill. */
const killDelayMs = 2_000;
/** How long a starter may take to tell how its program ended, and a broken container to end. */
const endTimeoutMs = 30_000;
/** How long a container whose starter ends may take, which includes that a cluster gets the files of a build. */
const lastTimeoutMs = 300_000;
const removalTimeoutMs = 10_000;
/** The number of open connections of one container. */
const maxConnections = 256;

/** A container in which programs are run, one at a time. Whoever opens it removes it. */
export class ProgramContainer {
  readonly #connection = Promise.withResolvers<Starter>();
  readonly #over = Promise.withResolvers<Look>();
  readonly #listening: RpcServer;
  #starter: string | undefined;
  #isClosed = false;
  #removal: Promise<void> | undefined;

  constructor(
    readonly spec: ProgramSpec,
    private readonly options: ProgramContainerOptions,
  ) {
    // Without a port of its own: it handles the upgrades that it is given.
    const server = createServer();
    this.#listening = rpcServer({
      server,
      serves: programServerCalls,
      calls: programCalls,
      // The first to connect is the starter, because no other program of the container runs before it.
      authorize: async ({ id }) => {
        this.#starter ??= id;
        if (this.#starter !== id)
          throw new AppError('forbidden', 'Only the starter of this container may connect.');
      },
      onConnection: (connection) => this.#serve(connection),
      onBroken: (reason) => options.warn(`The container ${spec.label}: ${reason}.`),
    });
    options.dials.admit(spec.id, ({ request, socket, head }) =>
      server.emit('upgrade', request, socket, head),
    );
    this.#connection.promise.catch(ignoreError('who opens the container receives it'));
  }

  /**
   * Resolves when the starter can run programs. Throws like `startProgram`, or `limit_reached` when its services have
   * written too much by then, and removes what was made.
   */
  async start(signal: AbortSignal): Promise<void> {
    const { host } = this.options;
    try {
      await host.startProgram(this.spec, signal);
      await untilAborted(signal, this.#dialled());
    } catch (error) {
      // What was removed for that reason can be missed by anything.
      const seen = await host.look(this.spec.id).catch(ignoreError('the first error says more'));
      await this.remove();
      throw seen?.cause === 'written' ? endError(seen) : error;
    }
  }

  /** Resolves when it does not run any more, also by itself. Never rejects. */
  get over(): Promise<Look> {
    return this.#over.promise;
  }

  /** Throws `conflict` while a program runs in it, and `unavailable` or `limit_reached` when it is over. */
  async run(start: ProgramStart): Promise<RunningProgram & { left: Promise<number> }> {
    const connection = await this.#connection.promise;
    const stream = await connection.open('program', start);
    // Readers receive errors, too.
    stream.on('error', ignoreError('the stream closes'));
    stream.once('end', () => stream.end());
    const closed = once(stream, 'close').catch(ignoreError('it closes after an error, too'));
    let isStopped = false;
    const told = closed.then(() =>
      isStopped ? undefined : inTime(connection.call('program.end', {}), endTimeoutMs, noEnd),
    );
    const ended = told
      .catch(() => inTime(this.#over.promise, endTimeoutMs, noEnd).then(endOf))
      .then((end) => endWithout(end));
    const stop = async (): Promise<ProgramEnd> => {
      if (!stream.destroyed) {
        isStopped = true;
        stream.end();
        // If nobody reads its output.
        stream.resume();
        await inTime(closed, killDelayMs, () => undefined);
        stream.destroy();
      }
      return ended;
    };
    const left = told.then(
      (end) => end?.left ?? Infinity,
      () => Infinity,
    );
    return { input: stream, output: untilBreak(outputPieces(stream)), ended, left, stop };
  }

  /**
   * Reads what is in it, also what a program has left, while none runs. Throws `not_found` for a path that does not exist,
   * and `unavailable` or `limit_reached` when it is over.
   */
  async open<N extends 'program.archive' | 'program.listing'>(
    name: N,
    meta: StreamMeta<N>,
  ): Promise<Readable> {
    const connection = await this.#connection.promise;
    const stream = await connection.open(name, meta);
    stream.end();
    return stream;
  }

  /** Ends its starter and with it all programs. Throws `timeout` when the container goes on. */
  async end(): Promise<void> {
    await (await this.#connection.promise).close();
    await inTime(this.#over.promise, lastTimeoutMs, () => {
      throw new AppError('timeout', `The container ${this.spec.label} does not end.`);
    });
  }

  /** Never rejects: one that the host does not remove is removed when it is back, see `Reconciler`. */
  remove(): Promise<void> {
    return (this.#removal ??= this.#remove());
  }

  async #remove(): Promise<void> {
    this.#isClosed = true;
    const { host, dials, warn } = this.options;
    const { id, label } = this.spec;
    await inTime(host.remove(id), removalTimeoutMs, () => {
      throw new AppError('timeout', `${host.name} does not remove it.`);
    }).catch((error: unknown) =>
      warn(`The container ${label} could not be removed: ${errorFrom(error).message}`),
    );
    dials.remove(id);
    this.#leave({ state: 'gone', why: null, cause: null });
  }

  #serve(connection: Starter): void {
    const { services } = this.options;
    let connections = 0;
    connection.serve({});
    connection.accept('egress', async (target, stream) => {
      if (connections >= maxConnections)
        throw new AppError('limit_reached', `It has ${maxConnections} connections already.`);
      connections += 1;
      stream.once('close', () => (connections -= 1));
      const take = await services.connect(target);
      take(stream);
    });
    connection.accept('files', async (_, stream) => {
      if (!services.takeFiles)
        throw new AppError('forbidden', 'No files are taken from this program.');
      services.takeFiles(stream);
    });
    connection.on('connected', () => this.#connection.resolve(connection));
    // A break may be the first sign of the container’s end.
    connection.on('disconnected', () => void this.#watch(connection));
    connection.on('closed', () => void this.#watch(connection));
  }

  /** Resolves when the starter has dialled; rejects when its container has ended before. */
  async #dialled(): Promise<void> {
    const late = Date.now() + dialTimeoutMs;
    const connected = this.#connection.promise.then(() => true);
    while (!(await Promise.race([connected, delay(lookMs, false, { ref: false })]))) {
      const seen = await this.options.host.look(this.spec.id);
      if (seen.state === 'ended' || seen.state === 'gone') throw endError(seen);
      if (Date.now() > late)
        throw new AppError(
          'timeout',
          `The container ${this.spec.label} did not connect within ${dialTimeoutMs / 1_000} s.`,
        );
    }
  }

  /** Looks at the container until it has ended, or its starter is connected again. */
  async #watch(connection: Starter): Promise<void> {
    while (!this.#isClosed && !connection.connected) {
      const seen = await this.options.host.look(this.spec.id).catch(ignoreError('it is away'));
      if (seen?.state === 'ended' || seen?.state === 'gone') return this.#leave(seen);
      await delay(lookMs, undefined, { ref: false });
    }
  }

  #leave(seen: Look): void {
    const error = endError(seen);
    this.#over.resolve(seen);
    this.#connection.reject(error);
    this.#listening.close(error);
  }
}

/** The output of a program whose connection breaks ends there: `ended` tells why. */
async function* untilBreak(output: AsyncIterable<OutputPiece>): AsyncIterable<OutputPiece> {
  try {
    yield* output;
  } catch {
    // The stream was destroyed.
  }
}

const endError = ({ cause, why }: Look): AppError =>
  new AppError(
    cause === 'written' ? 'limit_reached' : 'unavailable',
    why ?? 'The container was removed.',
  );

const noEnd = (): undefined => undefined;

const endOf = (seen: Look | undefined): ProgramEnd => ({
  ...(seen?.cause === 'memory' && { outOfMemory: true }),
  ...(seen?.cause === 'written' && { wroteTooMuch: true }),
});

/** Of what is known of an end, the part that concerns its program. */
function endWithout(end: (ProgramEnd & { left?: number }) | undefined): ProgramEnd {
  const { left: _, ...known } = end ?? {};
  return known;
}
