import type { SessionMachine } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import { assertMayNameHost } from '../../access/assert-may-name-host.js';

/**
 * Throws `forbidden` unless the caller may begin a session on this machine: a bare one confines nothing. An admin may
 * have chosen it for the sessions of the caller’s token.
 */
export function assertMayUseMachine(caller: Caller, { name, kind }: SessionMachine): void {
  if (kind === 'container' || caller.sandbox?.machine === name) return;
  assertMayNameHost(caller, {
    use: 'start a session on a bare machine, where nothing is confined',
    remedy: 'leave out `machine`, or name one that runs agents in containers',
  });
}
