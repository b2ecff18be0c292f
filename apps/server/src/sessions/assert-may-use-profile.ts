import { AppError, type SandboxProfile } from '@belay/protocol';
import type { Caller } from '../access/caller.js';

/** Throws `forbidden` for more rights than the sandboxes of the caller’s token have. */
export function assertMayUseProfile({ sandbox }: Caller, profile: SandboxProfile): void {
  if (!sandbox || profile !== 'root' || sandbox.profile === 'root') return;
  throw new AppError(
    'forbidden',
    'The sessions of this token run in the sandbox profile `hardened`. Choose that one, or ask an admin for a token with the profile `root`.',
  );
}
