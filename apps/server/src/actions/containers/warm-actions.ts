import { once } from 'node:events';
import { outputPieces, type DockerClient, type ExecutedProgram } from '@belay/docker';
import { ignoreError } from '@belay/protocol';
import { programEnd } from '../../programs/attached-container.js';
import type { ProgramEnd, RunningProgram } from '../../programs/program.js';
import type { ActionRun } from './action-run.js';
import type { SessionWorkspace } from './session-workspaces.js';

/** Kept at the same time on this server; the one that waits longest makes way. */
const mostKept = 8;
/** Of a container that waits: the engine’s init and our program that does nothing. */
const idleProcesses = 2;

/** A container that waits for calls, and what removes it with all that belongs to it. */
export interface IdleContainer {
  container: string;
  /** Resolves when it has ended by itself, too. */
  ended: Promise<unknown>;
  end(): Promise<void>;
}

export interface WarmOptions {
  /** Makes a container for a session; its connections and files are those of `run` as it is at the time. */
  open(run: ActionRun, signal: AbortSignal): Promise<IdleContainer>;
  /** The process of one call in it. */
  process(run: ActionRun, container: string): Promise<ExecutedProgram>;
}

/** One session’s container of one version of an action. */
interface Kept {
  /** Of the call that it has now. */
  current: ActionRun | null;
  idle: IdleContainer | undefined;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Containers of actions that stay for a while after a call, for the next one of the same session and version. Each call
 * is a process of its own, with its own variables; what an earlier one left running is gone, or the container is not kept.
 */
export class WarmActions {
  readonly #kept = new Map<string, Kept>();

  constructor(
    private readonly docker: DockerClient,
    private readonly options: WarmOptions,
  ) {}

  /** Undefined when this call is to have a container of its own. Throws as `ActionContainers.start`. */
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
      // One that was removed meanwhile: this call has its own.
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
      // The engine ends no process of a container alone.
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

  /** The engine sees the processes from outside: what hides from the others in the container is there, too. */
  async #isIdle(container: string): Promise<boolean> {
    return (await this.docker.processes(container).catch(() => Infinity)) <= idleProcesses;
  }

  /** False when all that are kept are in use. */
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

/** What connects or leaves files does so for the call that runs now; without one nothing is taken. */
const viaCurrent = (run: ActionRun, kept: Kept): ActionRun => ({
  ...run,
  args: [],
  secrets: {},
  onRefused: (reason) => kept.current?.onRefused(reason),
  takeFiles: (stream) => (kept.current ? kept.current.takeFiles(stream) : void stream.destroy()),
});
