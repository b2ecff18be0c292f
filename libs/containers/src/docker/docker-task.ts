import { Readable } from 'node:stream';
import { ignoreError } from '@belay/protocol';
import type { Container } from 'dockerode';
import type { ContainerChange, TaskContainer, TaskExit, TaskState } from '../task-host.js';
import { containerOutput } from './container-output.js';
import { isGone, isNotFound } from './errors.js';

const changeKinds = ['modified', 'added', 'removed'] as const;

/** A container of the engine. */
export class DockerTask implements TaskContainer {
  readonly #container: Container;

  constructor(container: Container) {
    this.#container = container;
  }

  /** Unpacks a tar; also before the start and after the end. */
  async put(archive: Buffer): Promise<void> {
    await this.#container.putArchive(archive, { path: '/' });
  }

  async run(seconds: number, signal: AbortSignal): Promise<TaskExit> {
    signal.throwIfAborted();
    await this.#container.start();
    let timedOut = false;
    const kill = () => void this.#container.kill().catch(ignoreError('it has ended'));
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, seconds * 1000);
    signal.addEventListener('abort', kill, { once: true });
    if (signal.aborted) kill();
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

  async state(): Promise<TaskState> {
    const { State } = await this.#container.inspect();
    const health = State.Health?.Status;
    return {
      running: State.Running,
      exitCode: State.ExitCode,
      health: health === undefined || health === 'none' ? null : (health as 'starting'),
    };
  }

  async tail(lines: number): Promise<string> {
    const logs: unknown = await this.#container.logs({ stdout: true, stderr: true, tail: lines });
    return containerOutput(Readable.from([logs as Buffer]));
  }

  async exec(
    command: string[],
    { user, seconds, signal }: { user: string | null; seconds: number; signal: AbortSignal },
  ): Promise<TaskExit & { output: string }> {
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

  async output(): Promise<string> {
    // With `follow`, dockerode returns a stream, which ends because the container has ended.
    const logs = await this.#container.logs({ stdout: true, stderr: true, follow: true });
    return containerOutput(logs as AsyncIterable<Buffer>);
  }

  async archiveOf(path: string): Promise<Readable | undefined> {
    try {
      return (await this.#container.getArchive({ path })) as unknown as Readable;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async changes(): Promise<ContainerChange[]> {
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
