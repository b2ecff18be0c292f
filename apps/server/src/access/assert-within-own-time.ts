import { AppError } from '@belay/protocol';
import type { Caller } from './caller.js';

/** Throws `invalid_input` for access that would outlive that of the caller who gives it; `expires` is null for never. */
export function assertWithinOwnTime(caller: Caller, expires: string | null): void {
  if (caller.expires === null) return;
  if (expires !== null && Date.parse(expires) <= caller.expires) return;
  const end = new Date(caller.expires).toISOString();
  throw new AppError(
    'invalid_input',
    `Your own token expires at ${end}, and access that you give ends no later: choose an earlier time, or use a token that does not expire.`,
  );
}
