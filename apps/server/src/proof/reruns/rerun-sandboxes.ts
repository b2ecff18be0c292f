import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import type { ProgramSpec, ProgramContainer, ProgramServices } from '@belay/containers';
import {
  AppError,
  errorFrom,
  visibleText,
  type ProgramStart,
  type RerunSetup,
} from '@belay/protocol';
import type { PrivateRepository } from '@belay/host';
import { Semaphore } from 'async-mutex';
import { Config } from '../../config.js';
import { EgressService } from '../../egress/egress.service.js';
import { ContainedPrograms } from '../../programs/contained-programs.js';
import { offlineVariables } from '../../programs/program.js';
import { endOfRun, type TimedEnd } from './end-of-run.js';

/** The bytes of a tar archive, from its begin. */
export type Archive = () => AsyncIterable<Buffer>;

/** The files of a sandbox, and what it is made of. */
export interface RerunFiles {
  repository: PrivateRepository;
  /** A tree of the repository. */
  tree: string;
  image: string;
  /** Tar archives that are unpacked over the files. */
  archives: readonly Archive[];
}

/** A command line and how long it may take. */
export interface LimitedCommand {
  command: string;
  seconds: number;
}

/** Sandboxes of reruns at the same time, of all sessions. */
const mostAtOnce = 2;
/** The user of the programs of sessions. */
const user = 1000;
const workspace = '/workspace';
const home = '/home/belay';
const runtime = '/opt/belay';
const unpackSeconds = 600;
/** Standard output and error in the order in which they were written. */
const joined = ['/bin/sh', '-c', 'exec /bin/sh -c "$1" 2>&1', 'rerun'] as const;
const tar = `${runtime}/tar`;
/** Tests may ask git for the commit; its time and author are the same for all files. */
const commitAll = `set -e
git=${runtime}/git
$git -c init.defaultBranch=main init --quiet
$git -c core.autocrlf=false add --all --force .
$git commit --quiet --allow-empty --no-verify --message=Rerun`;
const gitVariables = {
  GIT_EXEC_PATH: `${runtime}/git-core`,
  GIT_TEMPLATE_DIR: `${runtime}/git-templates`,
  ...Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((role) => [
      [`GIT_${role}_NAME`, 'Belay'],
      [`GIT_${role}_EMAIL`, 'belay@localhost'],
      [`GIT_${role}_DATE`, '2000-01-01T00:00:00Z'],
    ]),
  ),
};

/**
 * Sandboxes for one command each: the files of one tree and nothing of a session. There is no agent, model, network or
 * other tool in them, and programs of one cannot reach its starter, which reports how they end. They are removed at the
 * end; those of a killed server are removed by the reconciler.
 */
@Injectable()
export class RerunSandboxes {
  readonly #slots = new Semaphore(mostAtOnce);

  constructor(
    private readonly config: Config,
    private readonly programs: ContainedPrograms,
    private readonly egress: EgressService,
  ) {}

  /** Runs a command without a network. Throws an `AppError` when its sandbox cannot be made. */
  async run(files: RerunFiles, command: LimitedCommand, signal: AbortSignal): Promise<TimedEnd> {
    const services = { connect: refuseConnection };
    return this.#inSandbox(files, { services, signal }, (container) =>
      this.#command(container, { ...command, egress: false, signal }),
    );
  }

  /**
   * Runs a command that makes what others need, and writes its paths to `to` as a tar archive. Throws an `AppError` when
   * the command fails, does not make a path, or makes more than fits in a sandbox.
   */
  async setUp(
    files: RerunFiles,
    { setup, to }: { setup: RerunSetup; to: Writable },
    signal: AbortSignal,
  ): Promise<void> {
    const { hosts, paths } = setup;
    const origin = { name: 'The setup of reruns', session: null, hosts };
    const services: ProgramServices = {
      connect: (target) => this.egress.connectProgram(origin, target),
    };
    await this.#inSandbox(files, { services, signal }, async (container) => {
      const end = await this.#command(container, { ...setup, egress: true, signal });
      if (end.exitCode !== 0) throw setupFailed(end);
      const kept = [tar, '-cf', '-', '-C', workspace, '--', ...paths] as const;
      const running = await container.run(startOf([...kept]));
      running.input.end();
      const maxBytes = this.#halfMb() * 2 ** 20;
      const pieces = async function* () {
        let bytes = 0;
        for await (const { isError, data } of running.output) {
          if (isError) continue;
          bytes += data.length;
          if (bytes > maxBytes) throw tooLarge('What the setup made does');
          yield data;
        }
      };
      await pipeline(pieces, to, { signal });
      if ((await running.ended).code !== 0)
        throw new AppError(
          'invalid_input',
          `The setup did not make all of ${paths.join(', ')}. Name paths that it makes.`,
        );
    });
  }

  async #inSandbox<T>(
    files: RerunFiles,
    { services, signal }: { services: ProgramServices; signal: AbortSignal },
    use: (container: ProgramContainer) => Promise<T>,
  ): Promise<T> {
    return this.#slots.runExclusive(async () => {
      signal.throwIfAborted();
      const container = await this.programs.open(this.#spec(files.image), services, signal);
      try {
        await this.#fill(container, files, signal);
        return await use(container);
      } finally {
        await container.remove();
      }
    });
  }

  /** The same limits as a session has; what it writes is in memory. */
  #spec(image: string): ProgramSpec {
    const { memoryMb, cpus } = this.config;
    return {
      id: randomBytes(6).toString('hex'),
      label: `rerun-${randomBytes(3).toString('hex')}`,
      labels: {},
      image,
      rights: 'program',
      user,
      limits: { memoryMb, cpus },
      scratch: [workspace, home, '/tmp', '/var/tmp'].map((path) => ({ path, mb: this.#halfMb() })),
      workspace: null,
      folders: [],
      services: [],
      archive: null,
      writtenMb: 0,
    };
  }

  /** Of each of its folders. */
  #halfMb(): number {
    return Math.max(64, Math.floor(this.config.memoryMb / 2));
  }

  async #fill(
    container: ProgramContainer,
    { repository, tree, archives }: RerunFiles,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#unpack(container, () => archiveOf(repository, tree), signal);
    const commit = await container.run(startOf(['/bin/sh', '-c', commitAll], gitVariables));
    commit.input.end();
    const { exitCode, output } = await endOfRun(commit, { seconds: unpackSeconds, signal });
    if (exitCode !== 0) throw notFilled(output);
    for (const archive of archives) await this.#unpack(container, archive, signal);
  }

  async #unpack(container: ProgramContainer, archive: Archive, signal: AbortSignal): Promise<void> {
    const unpack = [tar, '-xf', '-', '-C', workspace, '--no-same-owner'] as const;
    const running = await container.run(startOf([...unpack]));
    const [sent, end] = await Promise.all([
      sendAll(archive(), running.input).then(() => null, errorFrom),
      endOfRun(running, { seconds: unpackSeconds, signal }),
    ]);
    if (sent) throw sent;
    if (end.exitCode !== 0) throw notFilled(end.output);
  }

  async #command(
    container: ProgramContainer,
    { command, seconds, egress, signal }: LimitedCommand & { egress: boolean; signal: AbortSignal },
  ): Promise<TimedEnd> {
    const start = startOf([...joined, command], { CI: '1', ...(!egress && offlineVariables) });
    const running = await container.run({ ...start, egress });
    running.input.end();
    return endOfRun(running, { seconds, signal });
  }
}

function startOf(command: ProgramStart['command'], env: ProgramStart['env'] = {}): ProgramStart {
  const all = { HOME: home, ...env };
  return { command, folder: workspace, env: all, egress: false, services: {}, output: null };
}

/** A tree as a tar archive; fails unless git has sent all of it. */
async function* archiveOf(repository: PrivateRepository, tree: string): AsyncGenerator<Buffer> {
  const child = repository.start(['archive', '--format=tar', tree]);
  child.stderr.resume();
  const closed = once(child, 'close');
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    const [code] = (await closed) as [number | null];
    if (code !== 0) throw new AppError('internal', 'Git could not read the files. Try again.');
  } finally {
    child.kill('SIGKILL');
  }
}

/** Rejects when the source fails. A program may end before it has read all, and then tells how. */
async function sendAll(source: AsyncIterable<Buffer>, input: Writable): Promise<void> {
  for await (const data of source) {
    if (!input.writable) break;
    if (input.write(data)) continue;
    const { promise, resolve } = Promise.withResolvers<void>();
    input.once('drain', resolve).once('close', resolve);
    await promise;
    input.off('drain', resolve).off('close', resolve);
  }
  input.end();
}

/** Never called where the starter has no proxy; a program cannot ask for one. */
async function refuseConnection(): Promise<never> {
  throw new AppError('rejected', 'Sandboxes of reruns have no network.');
}

const notFilled = (output: string): AppError =>
  /No space left/.test(output)
    ? tooLarge('The files do')
    : new AppError(
        'internal',
        `The files could not be put into a sandbox: ${visibleText(output.trim().slice(-200))}`,
      );

const tooLarge = (what: string): AppError =>
  new AppError(
    'too_large',
    `${what} not fit in half of the memory of a sandbox. Raise BELAY_MEMORY_MB.`,
  );

function setupFailed({ exitCode, output, problem }: TimedEnd): AppError {
  const why = problem ?? `it ended with the exit code ${exitCode}`;
  const last = visibleText(output.trim().slice(-200));
  return new AppError(
    'invalid_input',
    `The setup failed: ${why}${last && `, after it had printed “${last}”`}. Fix its command or name the hosts that it needs.`,
  );
}
