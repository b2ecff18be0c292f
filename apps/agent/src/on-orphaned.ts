import { statSync } from 'node:fs';

/** Ten minutes, of those in which the machine is awake. */
const usualLooks = { intervalMs: 15_000, most: 40 };

export interface Keeper {
  /** A file that the process which keeps this agent touches all the time. */
  record: string;
  /** Whether the server is there, which ends agents that nobody keeps. */
  isConnected(): boolean;
  looks?: { intervalMs: number; most: number };
}

/**
 * Calls back once neither has been there for so many looks in a row: an agent on a bare machine would outlive for ever
 * both who started it and its server.
 */
export function onOrphaned(
  { record, isConnected, looks = usualLooks }: Keeper,
  end: () => void,
): void {
  let touched = touchOf(record);
  let missed = 0;
  const timer = setInterval(() => {
    const now = touchOf(record);
    const isKept = now !== undefined && now !== touched;
    touched = now;
    missed = isKept || isConnected() ? 0 : missed + 1;
    if (missed < looks.most) return;
    clearInterval(timer);
    end();
  }, looks.intervalMs).unref();
}

const touchOf = (file: string): number | undefined =>
  statSync(file, { throwIfNoEntry: false })?.mtimeMs;
