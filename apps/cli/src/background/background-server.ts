import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { dataFolder, userDataFolder, type Where } from '../connection.js';
import { readSaved } from '../saved-file.js';
import { startOf } from './process-start.js';

const recorded = z.object({
  pid: z.int().positive(),
  /** Its start time: a process with the same id but another start time is not ours. */
  start: z.string().min(1),
  since: z.iso.datetime(),
});

const pollMs = 100;

/** The background server of one data folder: its log, and the file that identifies its process. */
export class BackgroundServer {
  readonly log: string;
  readonly #file: string;

  constructor(where: Where) {
    const folder = join(stateFolder(), 'belay');
    const name = nameFor(resolve(dataFolder(where)));
    this.log = join(folder, `${name}.log`);
    this.#file = join(folder, `${name}.pid`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** Keeps the previous log beside the new one. */
  turnLog(): void {
    try {
      renameSync(this.log, `${this.log}.1`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    writeFileSync(this.log, '', { mode: 0o600, flag: 'wx' });
  }

  /** The process that `up` started, while it runs. Removes the file of one that has ended. */
  running(): { pid: number; since: string } | undefined {
    const found = readSaved(this.#file, recorded);
    if (found && startOf(found.pid) === found.start) return { pid: found.pid, since: found.since };
    this.forget();
    return undefined;
  }

  remember(pid: number): void {
    const start = startOf(pid);
    if (start === undefined) return;
    const content = JSON.stringify({ pid, start, since: new Date().toISOString() });
    writeFileSync(this.#file, `${content}\n`, { mode: 0o600 });
    chmodSync(this.#file, 0o600);
  }

  forget(): void {
    rmSync(this.#file, { force: true });
  }

  /** Asks the process to end, and kills it after the timeout. Resolves once it has ended. */
  async end(timeoutMs: number): Promise<void> {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      // Checked before each signal, because the id may belong to another process by now.
      const found = this.running();
      if (!found) return;
      process.kill(found.pid, signal);
      const end = Date.now() + timeoutMs;
      while (Date.now() < end && this.running()) await sleep(pollMs);
    }
  }
}

const stateFolder = (): string => process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state');

/** `server`, with a suffix for a data folder that is not the default. */
function nameFor(data: string): string {
  if (data === userDataFolder()) return 'server';
  return `server-${createHash('sha256').update(data).digest('hex').slice(0, 12)}`;
}
