import type { BelayClient } from '@belay/client';
import { client, type SteeringCall } from './server';

/** The calls that steer a session, for `session-controls.ts` alone, which asks the user first where it must. */
export const steering: Pick<BelayClient['sessions'], SteeringCall> = (client as BelayClient)
  .sessions;
