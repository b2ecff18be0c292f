import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { AppError } from '@belay/protocol';
import { makeResultsFolder, unusableFolder } from './make-results-folder.js';

/**
 * Locks a results folder for this process, because two writers would duplicate lines. The lock of a
 * process that has ended is taken over. Throws `conflict` while another process holds it; the
 * returned function releases it.
 */
export function lockResults(out: string): () => void {
  makeResultsFolder(out);
  const path = join(out, 'run.lock');
  const own = join(out, `run.lock.${process.pid}`);
  const mark = markOf(process.pid);
  try {
    writeFileSync(own, mark);
  } catch (error) {
    throw unusableFolder(out, error);
  }
  try {
    for (let turn = 0; !take(own, path); turn += 1) {
      const holder = readIfThere(path);
      if (holder !== undefined && (isAlive(holder) || turn > 10)) throw inUse(out, holder);
      if (holder !== undefined) discard(path, holder);
    }
  } finally {
    rmSync(own, { force: true });
  }
  return () => {
    if (readIfThere(path) === mark) rmSync(path, { force: true });
  };
}

/**
 * Locks a results folder like `lockResults`, but first waits a little for a process that is about to
 * end: one whose npm was killed ends within a second.
 */
export async function lockResultsSoon(out: string, waitMs = 4_000): Promise<() => void> {
  const deadline = performance.now() + waitMs;
  for (;;)
    try {
      return lockResults(out);
    } catch (error) {
      const isHeld = error instanceof AppError && error.code === 'conflict';
      if (!isHeld || performance.now() > deadline) throw error;
      await setTimeout(100);
    }
}

function inUse(out: string, holder: string): AppError {
  const pid = holder.split(' ')[0] ?? '';
  return new AppError(
    'conflict',
    `Another process (${pid}) is working on ${out}. Wait until it has ended, or stop it.`,
  );
}

/** Linking is atomic, and the file is complete when it appears. */
function take(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes the lock of an ended process, and restores one that another process has just acquired.
 */
function discard(path: string, holder: string): void {
  const aside = `${path}.old.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (readIfThere(aside) !== holder) take(aside, path);
  rmSync(aside, { force: true });
}

/** The process id and start time, because ids are reused. */
const markOf = (pid: number): string => `${pid} ${startOf(pid) ?? ''}`;

function isAlive(mark: string): boolean {
  const pid = Number(mark.split(' ')[0]);
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return markOf(pid) === mark;
}

/**
 * In clock ticks since the machine's start (proc(5), field 22); undefined where there is no /proc.
 */
function startOf(pid: number): string | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
