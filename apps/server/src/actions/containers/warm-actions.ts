import type { ProgramContainer, ProgramEnd, RunningProgram } from '@belay/containers';
import type { ProgramStart } from '@belay/protocol';
import type { ActionRun } from './action-run.js';
import type { SessionWorkspace } from './session-workspaces.js';

/** The number of containers kept on this server; the longest idle one is removed first. */
const mostKept = 8;

export interface WarmOptions {
  /** Makes a container for a session; its connections and files belong to the current call of `run`. */
  open(run: ActionRun, signal: AbortSignal): Promise<ProgramContainer>;
  /** The program of one call in it. */
  start(run: ActionRun): ProgramStart;
}

/** One session’s container of one version of an action. */
interface Kept {
  /** The call that currently uses it. */
  current: ActionRun | null;
  container: ProgramContainer | undefined;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Keeps containers of actions for a while after a call, for the next call in the same session with the same version.
 * Each call is a program of its own, with its own variables. A container is not kept while processes of an earlier
 * call still run in it.
 */
export class WarmActions {
  readonly #kept = new Map<string, Kept>();

  constructor(private readonly options: WarmOptions) {}

  /** Undefined when this call needs a container of its own. Throws like `ActionContainers.start`. */
  async start(
    run: ActionRun,
    workspace: SessionWorkspace,
    signal: AbortSignal,
  ): Promise<RunningProgram | undefined> {
    const key = `${run.session} ${run.program.image}`;
    const found = this.#kept.get(key);
    if (found?.current) return undefined;
    const kept = found ?? { current: run, container: undefined, timer: undefined };
    if (!found && !this.#makeWay()) return undefined;
    clearTimeout(kept.timer);
    kept.current = run;
    this.#kept.set(key, kept);
    const drop = (): Promise<void> => this.#drop(key, kept);
    try {
      if (!kept.container) {
        kept.container = await this.options.open(viaCurrent(run, kept), signal);
        void kept.container.over.then(drop);
        void workspace.gone().then(drop);
      }
      return await this.#call(run, { kept, container: kept.container, drop });
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

  async #call(
    run: ActionRun,
    { kept, container, drop }: { kept: Kept; container: ProgramContainer; drop(): Promise<void> },
  ): Promise<RunningProgram> {
    const running = await container.run(this.options.start(run));
    const ended = running.ended.then(async (end): Promise<ProgramEnd> => {
      if (end.code === 0 && (await running.left) === 0) this.#keep(run, kept, drop);
      else await drop();
      return end;
    });
    return { ...running, ended, stop: () => running.stop().then(() => ended) };
  }

  #keep({ program }: ActionRun, kept: Kept, drop: () => Promise<void>): void {
    kept.current = null;
    const milliseconds = program.permissions.warm_seconds * 1_000;
    kept.timer = setTimeout(() => void drop(), milliseconds).unref();
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
    const { container } = kept;
    kept.container = undefined;
    await container?.remove();
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
