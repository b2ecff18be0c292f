import type { BelayClient } from '@belay/client';
import { client, type SteeringCall } from './server';

/** The calls that steer a session. Only for `session-controls.ts`, which asks for confirmation. */
export const steering: Pick<BelayClient['sessions'], SteeringCall> = (client as BelayClient)
  .sessions;
