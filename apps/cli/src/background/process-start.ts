import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process in /proc. */
export interface ProcessStat {
  pid: number;
  parent: number;
  /** Distinguishes processes, because ids are reused. */
  start: string;
}

/**
 * See proc(5): the name in parentheses may contain spaces. Undefined for a process that has ended, and without /proc.
 */
export function processStat(pid: number): ProcessStat | undefined {
  const text = processFile(`/proc/${pid}/stat`);
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent] = fields ?? [];
  if (!fields || state === 'Z') return undefined;
  return { pid, parent: Number(parent), start: fields[19] ?? '' };
}

/**
 * The start time of a running process, which together with its id identifies it during this boot. Undefined if no
 * process has the id.
 */
export function startOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return startByPs(pid);
  const start = processStat(pid)?.start;
  const boot = processFile('/proc/sys/kernel/random/boot_id')?.trim();
  return start && `${start} ${boot ?? ''}`;
}

function startByPs(pid: number): string | undefined {
  try {
    const printed = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return printed.trim() || undefined;
  } catch {
    return undefined;
  }
}

export function processFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
