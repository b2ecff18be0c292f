import { useSyncExternalStore } from 'react';
import { live } from '@/lib/server';

/** The state of the connection to the server. */
export const useLiveState = () =>
  useSyncExternalStore(
    (changed) => live().onState(changed),
    () => live().state,
  );
