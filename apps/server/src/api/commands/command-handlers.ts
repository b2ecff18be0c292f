import type { CommandInput, CommandOutput, Event, SessionCommandName } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';

export interface CommandContext {
  caller: Caller;
  /** Cancels a wait or the call of an operation. Without it, nothing does. */
  signal?: AbortSignal;
  /** The call’s id in the log, or the id of a new session. */
  id?: string;
  /** Called with each event during a wait. */
  onEvent?: (event: Event) => void;
  /** Called with the session that the command has created, for the audit log. */
  made?: (what: { session: string; subject: string }) => void;
}

export type CommandHandlers<N extends SessionCommandName = SessionCommandName> = {
  [K in N]: (input: CommandInput<K>, context: CommandContext) => Promise<CommandOutput<K>>;
};
