import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOf, processFile } from '../background/process-start.js';

/** A variable in the environment of an agent and everything that it starts. */
const mark = 'AGENT_SANDBOX';
export const sandboxMark = (sandbox: string): Record<string, string> => ({ [mark]: sandbox });

const endTimeoutMs = 1_000;

/**
 * Ends programs that an agent has left running on a bare machine, including those detached from its terminal. Works
 * only on Linux, and not for programs of other users or with a changed environment, because nothing else identifies
 * them.
 */
export async function endLeftPrograms(sandbox: string): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL', 'SIGKILL'] as const) {
    const left = leftPrograms(sandbox);
    if (left.length === 0) return;
    for (const { pid } of left) kill(pid, signal);
    const end = Date.now() + endTimeoutMs;
    while (Date.now() < end && left.some(({ pid, start }) => startOf(pid) === start)) {
      await sleep(20);
    }
  }
}

function leftPrograms(sandbox: string): { pid: number; start: string | undefined }[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && isOf(pid, sandbox))
    .map((pid) => ({ pid, start: startOf(pid) }));
}

const isOf = (pid: number, sandbox: string): boolean =>
  processFile(`/proc/${pid}/environ`)?.split('\0').includes(`${mark}=${sandbox}`) ?? false;

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
