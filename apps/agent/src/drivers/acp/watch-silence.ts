import { setTimeout as sleep } from 'node:timers/promises';
import { elapsedText, ignoreError } from '@belay/protocol';

export interface SilenceOptions {
  /** The agent’s name for people. */
  title: string;
  /** How long it may be silent before the user is told, and before its turn is cancelled, in milliseconds. */
  quietMs: number;
  silentMs: number;
  /** How long it has been silent. */
  idleMs(): number;
  /** Tells the user; null once it goes on. */
  tell(why: string | null): void;
  cancel(why: string): void;
}

/** Watches a turn until the signal aborts. */
export async function watchSilence(options: SilenceOptions, signal: AbortSignal): Promise<void> {
  const { title, quietMs, silentMs, idleMs, tell, cancel } = options;
  let isTold = false;
  const say = (why: string | null) => {
    isTold = why !== null;
    tell(why);
  };
  while (!signal.aborted) {
    const idle = idleMs();
    if (idle >= silentMs)
      return cancel(`${title} was silent for ${elapsedText(silentMs / 1_000)}.`);
    if (idle >= quietMs && !isTold)
      say(`${title} has been silent for ${elapsedText(quietMs / 1_000)}.`);
    else if (idle < quietMs && isTold) say(null);
    const next = idle < quietMs ? quietMs - idle : Math.min(silentMs - idle, quietMs);
    await sleep(next, undefined, { signal }).catch(ignoreError('the turn has ended'));
  }
  if (isTold) say(null);
}
