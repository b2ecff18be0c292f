import { setTimeout as sleep } from 'node:timers/promises';

/** Editors may write several files at once when saving. */
const gatherMs = 20;

/** Limits work to one run at a time; all calls during a run share one further run after it. */
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
