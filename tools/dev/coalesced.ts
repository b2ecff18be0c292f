import { setTimeout as sleep } from 'node:timers/promises';

/** An editor writes several files when all are saved. */
const gatherMs = 20;

/** Runs the work, one run at a time; all that ask for it during a run get one more, behind it. */
export function coalesced(work: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve();
  let next: Promise<void> | undefined;
  const run = async (): Promise<void> => {
    await sleep(gatherMs);
    next = undefined;
    await work();
  };
  return () => (next ??= last = last.then(run, run));
}
