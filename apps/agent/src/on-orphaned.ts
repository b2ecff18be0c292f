import { statSync } from 'node:fs';

/** Ten minutes, not counting time in which the machine sleeps. */
const usualLooks = { intervalMs: 15_000, most: 40 };

export interface Keeper {
  /** A file that the supervisor of this agent touches regularly. */
  record: string;
  /** Whether the server is connected; it ends agents without a supervisor. */
  isConnected(): boolean;
  looks?: { intervalMs: number; most: number };
}

/**
 * Calls back after this many checks in a row without supervisor and server; an agent on a bare machine would otherwise
 * outlive both forever.
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
