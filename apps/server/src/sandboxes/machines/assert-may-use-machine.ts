import type { SessionMachine } from '@belay/protocol';
import { mayNameHost, type Caller } from '../../access/caller.js';
import { assertMayNameHost } from '../../access/assert-may-name-host.js';

/**
 * Whether the caller may begin a session on this machine: a bare one confines nothing. An admin may have chosen it for
 * the sessions of the caller’s token.
 */
export const mayUseMachine = (caller: Caller, { name, kind }: SessionMachine): boolean =>
  kind === 'container' || caller.sandbox?.machine === name || mayNameHost(caller);

/** Throws `forbidden` unless the caller may begin a session on this machine. */
export function assertMayUseMachine(caller: Caller, machine: SessionMachine): void {
  if (mayUseMachine(caller, machine)) return;
  assertMayNameHost(caller, {
    use: 'start a session on a bare machine, where nothing is confined',
    remedy: 'leave out `machine`, or name one that runs agents in containers',
  });
}
