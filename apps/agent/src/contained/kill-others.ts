import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** How long killed processes may take to be gone. */
const killTimeoutMs = 2_000;
/** The container’s init, and this process. */
const ownProcesses = 2;

/** Kills all other processes of this container that this one may signal; returns how many are still there. */
export async function killOthers(): Promise<number> {
  const last = Date.now() + killTimeoutMs;
  for (;;) {
    try {
      process.kill(-1, 'SIGKILL');
    } catch {
      // There is none.
    }
    const left = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length - ownProcesses;
    if (left <= 0 || Date.now() > last) return Math.max(0, left);
    await delay(5);
  }
}
