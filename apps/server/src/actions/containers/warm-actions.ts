import { once } from 'node:events';
import { outputPieces, type DockerClient, type ExecutedProgram } from '@belay/containers';
import { ignoreError } from '@belay/protocol';
import { programEnd } from '../../programs/attached-container.js';
import type { ProgramEnd, RunningProgram } from '../../programs/program.js';
import type { ActionRun } from './action-run.js';
import type { SessionWorkspace } from './session-workspaces.js';

/** The number of containers kept on this server; the longest idle one is removed first. */
const mostKept = 8;
/** Processes of a waiting container: the engine’s init and our idle program. */
const idleProcesses = 2;

/** A container that waits for calls, and a function that removes it with everything that belongs to it. */
export interface IdleContainer {
  container: string;
  /** Resolves when it has ended, also by itself. */
  ended: Promise<unknown>;
  end(): Promise<void>;
}

export interface WarmOptions {
  /** Makes a container for a session; its connections and files belong to the current call of `run`. */
  open(run: ActionRun, signal: AbortSignal): Promise<IdleContainer>;
  /** The process of one call in it. */
  process(run: ActionRun, container: string): Promise<ExecutedProgram>;
}

/** One session’s container of one version of an action. */
interface Kept {
  /** The call that currently uses it. */
  current: ActionRun | null;
  idle: IdleContainer | undefined;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Keeps containers of actions for a while after a call, for the next call in the same session with the same version.
 * Each call is a process of its own, with its own variables. A container is not kept while processes of an earlier
 * call still run in it.
 */
export class WarmActions {
  readonly #kept = new Map<string, Kept>();

  constructor(
    private readonly docker: DockerClient,
    private readonly options: WarmOptions,
  ) {}

  /** Undefined when this call needs a container of its own. Throws like `ActionContainers.start`. */
  async start(
    run: ActionRun,
    workspace: SessionWorkspace,
    signal: AbortSignal,
  ): Promise<RunningProgram | undefined> {
    const key = `${run.session} ${run.program.image}`;
    const found = this.#kept.get(key);
    if (found?.current) return undefined;
    const kept = found ?? { current: run, idle: undefined, timer: undefined };
    if (!found && !this.#makeWay()) return undefined;
    clearTimeout(kept.timer);
    kept.current = run;
    this.#kept.set(key, kept);
    const drop = (): Promise<void> => this.#drop(key, kept);
    try {
      if (!kept.idle) {
        kept.idle = await this.options.open(viaCurrent(run, kept), signal);
        void kept.idle.ended.then(drop);
        void workspace.gone().then(drop);
      }
      return await this.#call(run, kept, drop);
    } catch (error) {
      await drop();
      // The container was removed meanwhile: this call gets its own.
      if (found && !signal.aborted) return undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#kept].map(([key, kept]) => this.#drop(key, kept)));
  }

  async #call(run: ActionRun, kept: Kept, drop: () => Promise<void>): Promise<RunningProgram> {
    const container = kept.idle?.container ?? '';
    const { output: stream, exitCode } = await this.docker.exec(
      container,
      await this.options.process(run, container),
    );
    stream.on('error', ignoreError('the stream closes'));
    const exit = async (): Promise<ProgramEnd | null> => {
      const code = await exitCode();
      return code === null ? null : { code };
    };
    let stopping = false;
    const ended = once(stream, 'close')
      .catch(ignoreError('it closes after an error, too'))
      .then(async (): Promise<ProgramEnd> => {
        const end = stopping ? {} : await programEnd(exit);
        const isClean = end.code === 0 && (await this.#isIdle(container));
        if (isClean) this.#keep(run, kept, drop);
        else await drop();
        return end;
      });
    const stop = async (): Promise<ProgramEnd> => {
      stopping = true;
      // The engine cannot end a single process of a container.
      await drop();
      stream.destroy();
      return ended;
    };
    return { input: stream, output: outputPieces(stream), ended, stop };
  }

  #keep({ program }: ActionRun, kept: Kept, drop: () => Promise<void>): void {
    kept.current = null;
    const milliseconds = program.permissions.warm_seconds * 1_000;
    kept.timer = setTimeout(() => void drop(), milliseconds).unref();
  }

  /** The engine sees processes from outside, including those hidden from others in the container. */
  async #isIdle(container: string): Promise<boolean> {
    return (await this.docker.processes(container).catch(() => Infinity)) <= idleProcesses;
  }

  /** False when all kept containers are in use. */
  #makeWay(): boolean {
    if (this.#kept.size < mostKept) return true;
    const longest = [...this.#kept].find(([, { current }]) => current === null);
    if (longest) void this.#drop(...longest);
    return longest !== undefined;
  }

  async #drop(key: string, kept: Kept): Promise<void> {
    clearTimeout(kept.timer);
    if (this.#kept.get(key) === kept) this.#kept.delete(key);
    const { idle } = kept;
    kept.idle = undefined;
    await idle?.end();
  }
}

/** Connections and files belong to the call that runs at the time; without one they are refused. */
const viaCurrent = (run: ActionRun, kept: Kept): ActionRun => ({
  ...run,
  args: [],
  secrets: {},
  onRefused: (reason) => kept.current?.onRefused(reason),
  takeFiles: (stream) => (kept.current ? kept.current.takeFiles(stream) : void stream.destroy()),
});
