import { useState } from 'react';
import { attempt } from './toasts';

/** Runs what the user asked for, and tells whether it still runs; a failure becomes a toast. */
export function useBusy(): { busy: boolean; run(work: () => Promise<unknown>): void } {
  const [busy, setBusy] = useState(false);
  const run = (work: () => Promise<unknown>) => {
    setBusy(true);
    attempt(() => work().finally(() => setBusy(false)));
  };
  return { busy, run };
}
