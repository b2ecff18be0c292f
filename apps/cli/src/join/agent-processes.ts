import { spawn, type ChildProcess } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  bareMachineCalls,
  ignoreError,
  visibleText,
  type machineServerCalls,
} from '@belay/protocol';
import type { RpcConnection } from '@belay/rpc';
import { z } from 'zod';
import { readAllSaved } from '../saved-file.js';
import { startOf } from '../background/process-start.js';
import { endLeftPrograms, sandboxMark } from './left-programs.js';
import type { AgentNews, ServedAgents } from './served-agents.js';

/** The server’s request for an agent. */
export type WantedAgent = z.output<(typeof bareMachineCalls)['agents.start']['input']>;

const recorded = z.object({
  sandbox: z.string(),
  session: z.string(),
  pid: z.int().positive(),
  start: z.string(),
  workspace: z.string(),
});
type RunningAgent = z.output<typeof recorded>;

type Connection = RpcConnection<typeof bareMachineCalls, typeof machineServerCalls>;

export interface AgentProcessesOptions extends AgentNews {
  /** The folder for all data of this server on this machine. */
  folder: string;
  /** An agent’s program and arguments, for a session’s folders. */
  command(agent: WantedAgent): { file: string; args: string[]; env: NodeJS.ProcessEnv };
}

const pollMs = 250;
/** The interval at which records are touched; an agent with an old record and without a server ends. */
const touchMs = 5_000;
const stopTimeoutMs = 3_000;

/**
 * The agents on this machine, one process per session. They keep running when this process is killed: the next one
 * adopts them, by the file that identifies their processes.
 */
export class AgentProcesses implements ServedAgents<typeof bareMachineCalls> {
  readonly contract = bareMachineCalls;
  readonly #options: AgentProcessesOptions;
  readonly #running = new Map<string, RunningAgent>();
  readonly #exits = new Map<string, string>();
  /** The agents that this process started itself. */
  readonly #children = new Map<string, ChildProcess>();
  readonly #timer: NodeJS.Timeout;
  #connection: Connection | undefined;
  #touched = 0;

  constructor(options: AgentProcessesOptions) {
    this.#options = options;
    for (const name of ['agents', 'sessions'])
      mkdirSync(join(options.folder, name), { recursive: true, mode: 0o700 });
    for (const agent of readAllSaved(join(options.folder, 'agents'), recorded)) {
      if (isAlive(agent)) {
        this.#running.set(agent.sandbox, agent);
        continue;
      }
      void endLeftPrograms(agent.sandbox);
      this.#forget(agent);
    }
    this.#timer = setInterval(() => this.#look(), pollMs);
  }

  get sandboxes(): string[] {
    return [...this.#running.keys()];
  }

  get sessions(): string[] {
    return [...this.#running.values()].map(({ session }) => session);
  }

  serve(connection: Connection): void {
    this.#connection = connection;
    connection.serve({
      'agents.start': async (wanted) => {
        await this.start(wanted);
        this.#options.started(wanted.session);
        return {};
      },
      'agents.stop': async ({ sandbox }) => {
        await this.stop(sandbox);
        return {};
      },
      'files.remove': async ({ folders }) => {
        await this.#removeFiles(folders);
        return {};
      },
    });
  }

  /**
   * Resolves when the agent was started; it connects by itself. Does nothing if it is running. Two agents never use the
   * same files.
   */
  async start(wanted: WantedAgent): Promise<void> {
    if (this.#running.has(wanted.sandbox)) return;
    for (const { sandbox, workspace } of this.#running.values())
      if (workspace === wanted.workspace) await this.stop(sandbox);
    for (const name of [wanted.workspace, wanted.state])
      mkdirSync(this.#folderOf(name), { recursive: true, mode: 0o700 });
    const log = openSync(this.#log(wanted.sandbox), 'a', 0o600);
    const { file, args, env } = this.#options.command(wanted);
    const child = spawn(file, args, {
      cwd: this.#folderOf(wanted.workspace),
      env: {
        ...env,
        ...sandboxMark(wanted.sandbox),
        BELAY_TOKEN: wanted.token,
        BELAY_WORKSPACE: this.#folderOf(wanted.workspace),
        BELAY_STATE: this.#folderOf(wanted.state),
        BELAY_RECORD: this.#file(wanted.sandbox),
      },
      stdio: ['ignore', log, log],
      // Ctrl-C in the terminal reaches only this process, which ends the agents one by one.
      detached: true,
    });
    closeSync(log);
    this.#noteExit(child, wanted.sandbox);
    const { pid } = child;
    const start = pid === undefined ? undefined : startOf(pid);
    if (pid === undefined || start === undefined)
      throw new Error('The agent could not be started on this machine.');
    const { sandbox, session, workspace } = wanted;
    const agent = { sandbox, session, pid, start, workspace };
    writeFileSync(this.#file(sandbox), JSON.stringify(agent), { mode: 0o600 });
    this.#running.set(sandbox, agent);
    this.#children.set(sandbox, child);
  }

  async stop(sandbox: string): Promise<void> {
    const agent = this.#running.get(sandbox);
    if (!agent) return;
    this.#running.delete(sandbox);
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (!isAlive(agent)) break;
      process.kill(agent.pid, signal);
      const end = Date.now() + stopTimeoutMs;
      while (Date.now() < end && isAlive(agent)) await sleep(20);
    }
    await endLeftPrograms(sandbox);
    this.#forget(agent);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.sandboxes.map((sandbox) => this.stop(sandbox)));
  }

  /** An agent that uses the files is ended. */
  async #removeFiles(names: readonly string[]): Promise<void> {
    for (const { sandbox, workspace } of this.#running.values())
      if (names.includes(workspace)) await this.stop(sandbox);
    for (const name of names) rmSync(this.#folderOf(name), { recursive: true, force: true });
  }

  #look(): void {
    this.#touch();
    for (const agent of this.#running.values()) {
      // A child’s exit status may arrive shortly after its end.
      const child = this.#children.get(agent.sandbox);
      if (isAlive(agent) || (child?.exitCode === null && child.signalCode === null)) continue;
      this.#running.delete(agent.sandbox);
      const how = this.#exits.get(agent.sandbox) ?? 'it is gone';
      void endLeftPrograms(agent.sandbox);
      const last = lastLineOf(this.#log(agent.sandbox));
      this.#forget(agent);
      this.#tell(agent, `The agent ended: ${how}${last && `: ${last}`}`);
    }
  }

  #tell({ sandbox, session }: RunningAgent, reason: string): void {
    this.#options.ended(session, reason);
    const told = this.#connection?.call('agents.ended', {
      sandbox,
      reason: reason.slice(0, 1_000),
    });
    told?.catch(ignoreError('the next hello says so'));
  }

  #touch(): void {
    const now = Date.now();
    if (now < this.#touched + touchMs) return;
    this.#touched = now;
    for (const sandbox of this.#running.keys()) {
      try {
        utimesSync(this.#file(sandbox), now / 1000, now / 1000);
      } catch {
        // It is being stopped.
      }
    }
  }

  #noteExit(child: ChildProcess, sandbox: string): void {
    child.on('error', (error) => this.#exits.set(sandbox, error.message));
    child.on('exit', (code, signal) =>
      this.#exits.set(sandbox, signal ? `killed by ${signal}` : `exit code ${code ?? 0}`),
    );
    child.unref();
  }

  #forget({ sandbox }: RunningAgent): void {
    rmSync(this.#file(sandbox), { force: true });
    rmSync(this.#log(sandbox), { force: true });
    this.#exits.delete(sandbox);
    this.#children.delete(sandbox);
  }

  /** The contract guarantees that the name is not a path. */
  #folderOf = (name: string): string => join(this.#options.folder, 'sessions', name);
  #file = (sandbox: string): string => join(this.#options.folder, 'agents', `${sandbox}.json`);
  #log = (sandbox: string): string => join(this.#options.folder, 'agents', `${sandbox}.log`);
}

const isAlive = ({ pid, start }: RunningAgent): boolean => startOf(pid) === start;

function lastLineOf(file: string): string {
  try {
    const line = readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? '';
    return visibleText(line.slice(0, 300));
  } catch {
    return '';
  }
}
