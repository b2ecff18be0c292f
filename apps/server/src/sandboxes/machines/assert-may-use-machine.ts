import type { SessionMachine } from '@belay/protocol';
import { mayNameHost, type Caller } from '../../access/caller.js';
import { assertMayNameHost } from '../../access/assert-may-name-host.js';

/** Whether everyone who may begin sessions may do so on this machine: a bare one confines nothing. */
export const isOpenToAll = ({ kind }: Pick<SessionMachine, 'kind'>): boolean =>
  kind === 'container';

/**
 * Whether the caller may begin a session on this machine. An admin may have chosen a bare one for the sessions of the
 * caller’s token.
 */
export const mayUseMachine = (caller: Caller, machine: SessionMachine): boolean =>
  isOpenToAll(machine) || caller.sandbox?.machine === machine.name || mayNameHost(caller);

/** Throws `forbidden` unless the caller may begin a session on this machine. */
export function assertMayUseMachine(caller: Caller, machine: SessionMachine): void {
  if (mayUseMachine(caller, machine)) return;
  assertMayNameHost(caller, {
    use: 'start a session on a bare machine, where nothing is confined',
    remedy: 'leave out `machine`, or name one that runs agents in containers',
  });
}
