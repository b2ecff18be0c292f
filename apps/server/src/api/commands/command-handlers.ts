import type { CommandInput, CommandOutput, Event, SessionCommandName } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';

export interface CommandContext {
  caller: Caller;
  /** Ends a wait, and the call of an operation. Default: nothing does. */
  signal?: AbortSignal;
  /** The id that the call of an operation has in the log, or that a new session gets. */
  id?: string;
  /** Called with each event that a wait sees. */
  onEvent?: (event: Event) => void;
  /** Called with the session that the command has made, as the audit log names it. */
  made?: (what: { session: string; subject: string }) => void;
}

export type CommandHandlers<N extends SessionCommandName = SessionCommandName> = {
  [K in N]: (input: CommandInput<K>, context: CommandContext) => Promise<CommandOutput<K>>;
};
