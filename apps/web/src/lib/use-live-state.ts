import { useSyncExternalStore } from 'react';
import { live } from '@/lib/server';

/** How the connection to the server is. */
export const useLiveState = () =>
  useSyncExternalStore(
    (changed) => live().onState(changed),
    () => live().state,
  );
