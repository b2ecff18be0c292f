import { Injectable } from '@nestjs/common';
import {
  actionNamed,
  AppError,
  fieldsOfTool,
  mcpToolNamed,
  type InstalledOperation,
  type OperationName,
  type OperationOutput,
} from '@belay/protocol';
import { sees, type Caller } from '../../access/caller.js';
import { DirectCalls } from '../../actions/direct-calls.js';
import { Dispatcher } from '../../sessions/dispatcher.js';
import { CommandsElsewhere, type PassableCall } from './commands-elsewhere.js';

/** Calls of operations by name, with `session` as an additional input field. */
@Injectable()
export class NamedCalls {
  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly direct: DirectCalls,
    private readonly elsewhere: CommandsElsewhere,
  ) {}

  /** Installed operations that the caller can call without a session now. */
  installed(caller: Caller): InstalledOperation[] {
    return this.direct.offered(caller);
  }

  /**
   * Installed operations need no session. Throws what `Dispatcher.call`, `DirectCalls` and `CommandsElsewhere.call`
   * throw.
   */
  call<N extends OperationName>(
    caller: Caller,
    call: NamedCall & { name: N },
  ): Promise<OperationOutput<N>>;
  call(caller: Caller, call: NamedCall): Promise<unknown>;
  async call(caller: Caller, call: NamedCall): Promise<unknown> {
    const { name, input, signal, id } = call;
    const given = fieldsOf(input);
    const { session, ...fields } = given;
    const action = actionNamed(name);
    const tool = mcpToolNamed(name);
    if (tool && this.#hasOwnSession(caller, name))
      return this.direct.runTool(tool, { input: given, caller, signal });
    if (session === undefined) {
      if (action !== undefined) return this.direct.run(action, { input: fields, caller, signal });
      if (tool) return this.direct.runTool(tool, { input: fields, caller, signal });
    }
    if (typeof session !== 'string' || session === '') throw namesNoSession(name);
    const asked = { name, input: fields, caller, ...(id && { id }) };
    const onUnanswered = (error: AppError): Promise<void> =>
      this.dispatcher.recordUnanswered(session, asked, error);
    // No other server is asked about a session that the caller may not see.
    const passed =
      sees(caller, session) &&
      (await this.elsewhere.call(session, caller, { ...call, onUnanswered }));
    if (passed) return passed.value;
    return this.dispatcher.call(session, asked, signal);
  }

  /** Whether `session` is a field of the tool itself, and so names no session of ours. */
  #hasOwnSession(caller: Caller, name: string): boolean {
    const found = this.installed(caller).find(({ operation }) => operation.name === name);
    return found !== undefined && Object.hasOwn(fieldsOfTool(found.tool), 'session');
  }
}

type NamedCall = PassableCall & { signal: AbortSignal };

const fieldsOf = (input: unknown): Record<string, unknown> =>
  typeof input === 'object' && input !== null && !Array.isArray(input)
    ? (input as Record<string, unknown>)
    : {};

const namesNoSession = (name: string): AppError =>
  new AppError('invalid_input', `${name}: name the \`session\` that it is about.`);
