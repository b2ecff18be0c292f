import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { AppError, ignoreError, programCalls, programServerCalls } from '@belay/protocol';
import { inTime, rpcServer, type RpcConnection } from '@belay/rpc';
import type { DialIn, HostKeptFiles, KeptFiles, ProgramSpec } from '../container-host.js';
import { watchedTar } from '../watched-tar.js';
import type { Claims } from './claims.js';

/** A pod of this host’s own: made, taken by its dials, and removed. */
export interface OwnProgram {
  start(
    spec: ProgramSpec,
    keptFiles: readonly KeptFiles[],
    take: (dial: DialIn) => void,
  ): Promise<void>;
  remove(id: string): Promise<void>;
}

type Starter = RpcConnection<typeof programServerCalls, typeof programCalls>;

interface Starters {
  first: Promise<Starter>;
  take(dial: DialIn): void;
  close(): void;
}

const folder = '/kept';
/** Until the starter of a pod that runs has dialled, and until it has unpacked what was sent, in ms. */
const dialTimeoutMs = 60_000;
const unpackTimeoutMs = 600_000;

/** Claims with names of their own. A pod of the runtime alone fills them. */
export class KeptClaims implements HostKeptFiles {
  constructor(
    private readonly claims: Claims,
    private readonly programs: OwnProgram,
    private readonly runtimeImage: string,
  ) {}

  async fill(name: string, tar: Readable): Promise<void> {
    const id = randomBytes(6).toString('hex');
    const { archive, broken } = watchedTar(tar);
    const starters = startersIn();
    try {
      await this.remove(name);
      await this.claims.make('filled', name);
      await this.#start(id, name, starters);
      broken.throwIfAborted();
      const starter = await inTime(starters.first, dialTimeoutMs, () => late('connect'));
      await inTime(unpack(starter, archive), unpackTimeoutMs, () => late('unpack the files'));
      broken.throwIfAborted();
    } catch (error) {
      await this.programs.remove(id);
      await this.remove(name).catch(ignoreError('`keepOnly` removes it'));
      broken.throwIfAborted();
      throw error;
    } finally {
      starters.close();
    }
    await this.programs.remove(id);
  }

  remove(name: string): Promise<void> {
    return this.claims.remove('filled', name);
  }

  async keepOnly(names: readonly string[]): Promise<void> {
    for (const name of await this.claims.list('filled'))
      if (!names.includes(name)) await this.remove(name);
  }

  async #start(id: string, name: string, { take }: Starters): Promise<void> {
    const kept = { name, path: folder, readOnly: false };
    await this.programs.start(this.#spec(id), [kept], take);
  }

  #spec(id: string): ProgramSpec {
    return {
      id,
      label: 'fill',
      labels: {},
      image: this.runtimeImage,
      rights: 'program',
      user: 0,
      limits: { memoryMb: 128, cpus: 1 },
      scratch: [],
      workspace: null,
      folders: [],
      services: [],
      archive: null,
      writtenMb: 64,
    };
  }
}

function late(what: string): never {
  throw new AppError('timeout', `The pod that keeps files did not ${what} in time.`);
}

/** Takes the dials of one pod. */
function startersIn(): Starters {
  const dialled = Promise.withResolvers<Starter>();
  // Without a port of its own: it handles the upgrades that it is given.
  const server = createServer();
  const listening = rpcServer({
    server,
    serves: programServerCalls,
    calls: programCalls,
    onConnection: (starter) => {
      starter.serve({});
      dialled.resolve(starter);
    },
  });
  return {
    first: dialled.promise,
    take: ({ request, socket, head }) => server.emit('upgrade', request, socket, head),
    close: () => listening.close(),
  };
}

async function unpack(starter: Starter, tar: Readable): Promise<void> {
  const stream = await starter.open('program', {
    command: ['/opt/belay/tar', '-xpf', '-', '-C', folder, '--no-same-owner'],
    folder: '/',
    env: {},
    egress: false,
    services: {},
    output: null,
  });
  const printed = text(stream);
  printed.catch(ignoreError('the pipeline rejects, too'));
  await pipeline(tar, stream);
  await printed;
  const { code } = await starter.call('program.end', {});
  if (code !== 0) throw new AppError('invalid_input', 'The files are not a complete tar archive.');
}
