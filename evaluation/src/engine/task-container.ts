import { Readable } from 'node:stream';
import { containerOutput, isGone, isNotFound } from '@belay/containers';
import { ignoreError } from '@belay/protocol';
import type { Container } from 'dockerode';
import { readArchive, packArchive, type Entry } from '../entries.js';
import type { Service } from '../model.js';
import type { ReadBudget } from '../read-budget.js';

export interface TaskContainerSpec extends ContainerNetwork {
  /** The id of the run that the container belongs to. */
  run: string;
  image: string;
  /** Null for the image's own. */
  command: string[] | null;
  /** None if absent; null for the image's own. */
  entrypoint?: string[] | null;
  user: string | null;
  workdir: string | null;
  env: Record<string, string>;
  cpus: number;
  memoryMb: number;
  healthcheck?: Service['healthcheck'];
  files: Entry[];
}

/** Where a container's network is. */
export interface ContainerNetwork {
  /** The last one is the network of another container, by its id. */
  network: 'none' | 'bridge' | `container:${string}`;
  /** Names that lead to its own loopback address. */
  hosts?: string[];
}

/** The state of a started container. Without a healthcheck, its health is null. */
export interface ContainerState {
  running: boolean;
  exitCode: number;
  health: 'starting' | 'healthy' | 'unhealthy' | null;
}

export interface ContainerExit {
  exitCode: number;
  timedOut: boolean;
}

const changeKinds = ['modified', 'added', 'removed'] as const;

/** One container from its creation to its removal. Its creator removes it. */
export class TaskContainer {
  readonly #container: Container;

  constructor(container: Container) {
    this.#container = container;
  }

  /**
   * Adds files by absolute path, with owners and modes. Also works before the start and after the
   * end.
   */
  async put(entries: Entry[]): Promise<void> {
    if (entries.length > 0)
      await this.#container.putArchive(await packArchive(entries), { path: '/' });
  }

  /**
   * Starts it and waits until it exits. After `seconds`, or when the signal is aborted, the whole
   * container is killed, including background processes and those that ignore signals. Rejects when
   * the signal is aborted.
   */
  async run(seconds: number, signal: AbortSignal): Promise<ContainerExit> {
    signal.throwIfAborted();
    await this.#container.start();
    let timedOut = false;
    const kill = () => void this.#container.kill().catch(ignoreError('it has ended'));
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, seconds * 1000);
    signal.addEventListener('abort', kill, { once: true });
    try {
      const { StatusCode } = (await this.#container.wait()) as { StatusCode: number };
      signal.throwIfAborted();
      return { exitCode: StatusCode, timedOut };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
    }
  }

  get id(): string {
    return this.#container.id;
  }

  async start(): Promise<void> {
    await this.#container.start();
  }

  async state(): Promise<ContainerState> {
    const { State } = await this.#container.inspect();
    const health = State.Health?.Status;
    return {
      running: State.Running,
      exitCode: State.ExitCode,
      health: health === undefined || health === 'none' ? null : (health as 'starting'),
    };
  }

  /** The end of what a container has printed so far. */
  async tail(lines: number): Promise<string> {
    const logs: unknown = await this.#container.logs({ stdout: true, stderr: true, tail: lines });
    return containerOutput(Readable.from([logs as Buffer]));
  }

  /**
   * Runs a command beside the container's own program. After `seconds` it is left to itself, and
   * counts as timed out.
   */
  async exec(
    command: string[],
    { user, seconds, signal }: { user: string | null; seconds: number; signal: AbortSignal },
  ): Promise<ContainerExit & { output: string }> {
    const exec = await this.#container.exec({
      Cmd: ['timeout', '-s', 'KILL', `${Math.ceil(seconds)}`, ...command],
      ...(user && { User: user }),
      AttachStdout: true,
      AttachStderr: true,
    });
    const stream = await exec.start({ abortSignal: signal });
    const output = await containerOutput(stream as AsyncIterable<Buffer>);
    const { ExitCode } = await exec.inspect();
    const exitCode = ExitCode ?? 1;
    return { exitCode, timedOut: exitCode === 137, output };
  }

  /** At least the last 32 MB of the standard output and error of an ended container, in order. */
  async output(): Promise<string> {
    // With `follow`, dockerode returns a stream, which ends because the container has ended.
    const logs = await this.#container.logs({ stdout: true, stderr: true, follow: true });
    return containerOutput(logs as AsyncIterable<Buffer>);
  }

  /**
   * A file, or a folder with its content; empty if it does not exist. Paths are absolute. Rejects
   * with `Refused`.
   */
  async read(path: string, budget?: ReadBudget): Promise<Entry[]> {
    try {
      const stream = await this.#container.getArchive({ path });
      return await readArchive(stream as unknown as Readable, parentOf(path), budget);
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }

  /**
   * The differences from the image. Folders that only contain a change are listed as modified, too.
   */
  async changes(): Promise<{ path: string; kind: (typeof changeKinds)[number] }[]> {
    const changes: unknown = await this.#container.changes();
    // Without changes the engine answers `null`, which dockerode returns as its bytes.
    const listed = Array.isArray(changes) ? (changes as { Path: string; Kind: number }[]) : [];
    return listed.map(({ Path, Kind }) => ({
      path: Path,
      kind: changeKinds[Kind] ?? 'modified',
    }));
  }

  /** Its state as an image without a name. */
  async commit(): Promise<string> {
    const { Id } = (await this.#container.commit({ pause: false })) as { Id: string };
    return Id;
  }

  async remove(): Promise<void> {
    await this.#container.remove({ force: true, v: true }).catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
  }
}

const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/')) || '/';
