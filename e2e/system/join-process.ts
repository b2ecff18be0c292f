import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@belay/testing';
import { built } from '@belay/testkit';

/** `belay join` as a process with a home folder of its own; `within` is a command as for `BelayServer`. */
export class JoinProcess {
  output = '';
  child!: ChildProcess;

  constructor(
    private readonly home: string,
    private readonly more: Record<string, string> = {},
    private readonly within: readonly string[] = [],
  ) {}

  start(...args: string[]): this {
    return this.#run('join', args);
  }

  /** Runs `belay leave` instead, with the same home folder. */
  leave(...args: string[]): this {
    return this.#run('leave', args);
  }

  #run(command: string, args: string[]): this {
    this.output = '';
    // Keeps the shell settings of this machine out of the test.
    const env = {
      ...process.env,
      HOME: this.home,
      XDG_DATA_HOME: this.home,
      XDG_STATE_HOME: this.home,
    };
    const bundle = built('apps/cli/dist/bundle/belay.cjs');
    const [program = '', ...rest] = [...this.within, process.execPath, bundle, command, ...args];
    const child = spawn(program, rest, {
      env: { ...env, ...this.more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    this.child = child;
    return this;
  }

  says(what: string | RegExp): Promise<unknown> {
    const seen = () =>
      typeof what === 'string' ? this.output.includes(what) : what.test(this.output);
    return until(`join says ${what}`, seen, { state: () => this.output });
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    const exit = once(this.child, 'exit');
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    this.child.kill(signal);
    return ((await exit) as [number | null])[0];
  }

  /** Waits until the process has ended; it may have ended before. */
  async ended(): Promise<void> {
    await until('join to end', () => this.child.exitCode !== null, { state: () => this.output });
  }

  /** The process ids that it has recorded for its agents. */
  agents(): number[] {
    const folder = join(this.home, 'belay/joined');
    return filesBelow(folder)
      .filter((name) => /agents\/\w+\.json$/.test(name))
      .flatMap((name) => recordedIn(join(folder, name)));
  }

  /** Waits until exactly one agent runs; resolves to its process id. */
  agent(): Promise<number> {
    return until('one agent', () => {
      const [agent = 0, ...others] = this.agents().filter(processRuns);
      return others.length === 0 && agent;
    });
  }
}

/** Retries when an entry is removed during the listing. */
export function filesBelow(folder: string): string[] {
  for (let tries = 0; ; tries += 1) {
    try {
      return readdirSync(folder, { recursive: true, encoding: 'utf8' });
    } catch (error) {
      if (tries === 100) throw error;
    }
  }
}

function recordedIn(file: string): number[] {
  try {
    return [(JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid];
  } catch {
    return [];
  }
}

export const processRuns = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};
