import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import type { CallingRequest, Identity } from '../auth/identity.js';

/** How long this server may take to learn of a new token, login or user, in milliseconds. */
const learnMs = 5_000;
const lookAgainMs = 50;

/** The caller of a request that another server has passed on, which knew it. Throws `unavailable` when this one does not. */
export async function knownCaller(identity: Identity, request: CallingRequest): Promise<Caller> {
  const end = performance.now() + learnMs;
  for (;;) {
    const caller = identity.caller(request);
    if (caller) return caller;
    if (performance.now() > end) throw notYetKnown();
    await delay(lookAgainMs);
  }
}

/** For a caller that another server knows: `unauthorized` would be final. */
const notYetKnown = (): AppError =>
  new AppError('unavailable', 'This server does not know the caller yet: try again.');
