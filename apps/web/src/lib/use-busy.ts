import { useState } from 'react';
import { attempt } from './toasts';

/** Runs actions of the user, with `busy` while one runs. A failure becomes a toast. */
export function useBusy(): { busy: boolean; run(work: () => Promise<unknown>): void } {
  const [busy, setBusy] = useState(false);
  const run = (work: () => Promise<unknown>) => {
    setBusy(true);
    attempt(() => work().finally(() => setBusy(false)));
  };
  return { busy, run };
}
