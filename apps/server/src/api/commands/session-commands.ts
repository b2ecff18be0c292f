import { Injectable } from '@nestjs/common';
import {
  commandAction,
  idsOf,
  isSessionCommand,
  ownValue,
  sessionCommands,
  type CommandInput,
  type CommandOutput,
  type InstalledOperation,
  type OperationName,
  type OperationOutput,
  type SessionCommand,
  type SessionCommandName,
} from '@belay/protocol';
import { AuditLog, type AuditedWork } from '../../access/audit-log.js';
import { assertMay, type Caller } from '../../access/caller.js';
import { parsedInput } from '../../parsed-input.js';
import type { CommandContext } from './command-handlers.js';
import { NamedCalls } from './named-calls.js';
import { OwnCommands } from './own-commands.js';
import { CommandsElsewhere } from './commands-elsewhere.js';

export interface CommandCall<N extends string = string> extends Omit<
  CommandContext,
  'caller' | 'made'
> {
  name: N;
  input: unknown;
  signal: AbortSignal;
  /** Whether another server has passed it on to this one, so that it is not passed on again. */
  isPassedOn?: boolean;
  /** Whether the audit log has, or will have, an entry for it anyway. */
  isAudited?: boolean;
}

/** Users’ commands on sessions, for every API: each is carried out by the server that works on its session. */
@Injectable()
export class SessionCommands {
  constructor(
    private readonly own: OwnCommands,
    private readonly elsewhere: CommandsElsewhere,
    private readonly operations: NamedCalls,
    private readonly audit: AuditLog,
  ) {}

  /** Runs a command with parsed input; access checks and the audit log are up to the calling code. */
  async run<N extends SessionCommandName>(
    name: N,
    input: CommandInput<N>,
    context: CommandContext,
  ): Promise<CommandOutput<N>> {
    const [session] = idsIn(name, input);
    const { caller, ...call } = context;
    const passed = await this.elsewhere.call(session, caller, {
      ...call,
      name,
      input,
      isAudited: true,
    });
    return passed ? (passed.value as CommandOutput<N>) : this.own.run(name, input, context);
  }

  /**
   * Checks, parses, audits and runs a command, or an operation with `session` as an additional input field; installed
   * operations need no session. Throws `AppError`.
   */
  call<N extends SessionCommandName>(
    caller: Caller,
    call: CommandCall<N>,
  ): Promise<CommandOutput<N>>;
  call<N extends OperationName>(caller: Caller, call: CommandCall<N>): Promise<OperationOutput<N>>;
  call(caller: Caller, call: CommandCall): Promise<unknown>;
  async call(caller: Caller, call: CommandCall): Promise<unknown> {
    const { name } = call;
    return isSessionCommand(name)
      ? this.#checked(caller, name, call)
      : this.operations.call(caller, call);
  }

  /** Installed operations that the caller can call without a session now. */
  installed(caller: Caller): InstalledOperation[] {
    return this.operations.installed(caller);
  }

  async #checked(caller: Caller, name: SessionCommandName, call: CommandCall): Promise<unknown> {
    const command: SessionCommand = sessionCommands[name];
    const action = commandAction(name);
    const check = (session?: string): void =>
      this.audit.refusals(caller, { action, session }, () =>
        assertMay(caller, command.scope, session),
      );
    check();
    const data = parsedInput(name, command.input, call.input ?? {});
    const [session, ...others] = idsIn(name, data);
    if (session !== undefined) check(session);
    const isAudited = command.scope !== 'view' && !call.isAudited;
    const what = { action, session, subject: others.join(' ') };
    const passed = await this.elsewhere.call(session, caller, {
      ...call,
      ...(isAudited && { onUnanswered: (error) => this.audit.failure(caller, what, error) }),
    });
    if (passed) return passed.value;
    let about: ReturnType<NonNullable<AuditedWork['made']>> = {};
    const made = (what: typeof about): void => void (about = what);
    const run = (): Promise<unknown> =>
      this.own.run(name, data as CommandInput<typeof name>, { ...call, caller, made });
    return isAudited ? this.audit.run(caller, { ...what, made: () => about }, run) : run();
  }
}

const idsIn = (name: SessionCommandName, input: Record<string, unknown>): string[] =>
  idsOf(sessionCommands[name]).map((id) => String(ownValue(input, id)));
