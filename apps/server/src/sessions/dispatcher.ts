import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  actionNamed,
  actionOperation,
  AppError,
  ignoreError,
  mcpOperation,
  mcpToolNamed,
  operationNamed,
  parseOutputOf,
  terminalOperations,
  userCallPrefix,
  type Access,
  type Operation,
  type OperationName,
  type OperationOutput,
} from '@belay/protocol';
import { z } from 'zod';
import { AuditLog } from '../access/audit-log.js';
import { assertMay, type Caller } from '../access/caller.js';
import { parsedInput } from '../parsed-input.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { EventLog } from '../logs/event-log.js';

export interface UserCallRequest<N extends string = string> {
  name: N;
  input: unknown;
  caller: Caller;
  /** The call’s id in the log, made by `newUserCallId`. */
  id?: string;
}

export const newUserCallId = (): string => `${userCallPrefix}${randomUUID()}`;

/** Users’ calls of operations from every API: checks permissions and forwards them to the agent. */
@Injectable()
export class Dispatcher {
  constructor(
    private readonly log: EventLog,
    private readonly sandboxes: SandboxService,
    private readonly audit: AuditLog,
  ) {}

  /** The operation that is called, if the caller may call it; throws otherwise. Runs nothing. */
  async check(
    session: string,
    { name, input, caller }: UserCallRequest,
  ): Promise<CheckedOperation> {
    this.#assertMay(caller, 'view', { session, action: name });
    const isInstalled = actionNamed(name) !== undefined || mcpToolNamed(name) !== undefined;
    const operation = isInstalled ? await this.#given(session, name) : operationNamed(name);
    if (!operation && isInstalled) throw notGiven(name);
    if (!operation?.audience.includes('user')) throw noSuchOperation(name);
    if (!operation.audience.includes('viewer'))
      this.#assertMay(caller, 'operate', { session, action: name });
    if (Object.hasOwn(terminalOperations, name)) await this.#refuseSignedIn(session);
    return { operation, input: fields.parse(parsedInput(name, operation.input, input)) };
  }

  /** Returns the operation’s output. Throws what the agent throws, and `conflict` when the session has no agent. */
  call<N extends OperationName>(
    session: string,
    call: UserCallRequest<N>,
    signal?: AbortSignal,
  ): Promise<OperationOutput<N>>;
  call(session: string, call: UserCallRequest, signal?: AbortSignal): Promise<unknown>;
  async call(
    session: string,
    { id = newUserCallId(), ...call }: UserCallRequest,
    signal?: AbortSignal,
  ): Promise<unknown> {
    const checked = await this.check(session, call);
    const { name, caller } = call;
    const { operation, input } = checked;
    const work = async () =>
      parseOutputOf(operation, await this.#forward(session, { ...checked, id }, signal));
    if (operation.quiet(input)) return work();
    const subject = operation.subject(input, { page: null });
    return this.audit.run(caller, { action: name, session, subject }, work);
  }

  /** Records a call that the server of its session did not answer, unless it is one that is refused or not recorded. */
  async recordUnanswered(session: string, call: UserCallRequest, error: AppError): Promise<void> {
    const { name, caller } = call;
    const checked = await this.check(session, call).catch(ignoreError('a refusal is recorded'));
    if (!checked || checked.operation.quiet(checked.input)) return;
    const subject = checked.operation.subject(checked.input, { page: null });
    this.audit.failure(caller, { action: name, session, subject }, error);
  }

  async #forward(
    session: string,
    { id, operation, input }: CheckedOperation & { id: string },
    signal?: AbortSignal,
  ): Promise<unknown> {
    const { state } = await this.log.summary(session);
    const link = this.sandboxes.agent(session);
    if (!link) {
      if (this.sandboxes.state(session) === 'lost') {
        throw new AppError('unavailable', 'The agent is being reconnected: try again in a moment.');
      }
      const remedy = state === 'starting' ? 'wait until it has started' : 'restart the session';
      throw new AppError('conflict', `The session has no sandbox now: ${remedy}.`);
    }
    this.log.userCalls.add(session, id, { operation, input });
    const call = { id, operation: operation.name, input };
    try {
      const { output } = await link.call('operation.call', call, { ...(signal && { signal }) });
      return output;
    } finally {
      // Other calls are forgotten when the agent writes their result.
      if (operation.quiet(input)) this.log.userCalls.remove(session, id);
    }
  }

  /** The action or MCP tool of this name, if the session got it at its start. */
  async #given(session: string, called: string): Promise<Operation | undefined> {
    const { actions, mcp } = await this.log.settings(session);
    const given = [...actions.map(actionOperation), ...mcp.map(mcpOperation)];
    return given.find(({ name }) => name === called);
  }

  /** The output of such a call is in the log and at its caller, and could be the credential. */
  async #refuseSignedIn(session: string): Promise<void> {
    const { agent } = await this.log.settings(session);
    if (agent?.login === undefined) return;
    throw new AppError(
      'forbidden',
      'This session uses its user’s own sign-in, so that nothing of its terminals is recorded: type into the terminal itself.',
    );
  }

  #assertMay(caller: Caller, access: Access, what: { session: string; action: string }): void {
    this.audit.refusals(caller, what, () => assertMay(caller, access, what.session));
  }
}

export interface CheckedOperation {
  operation: Operation;
  input: Record<string, unknown>;
}

const notGiven = (name: string): AppError =>
  new AppError(
    'not_found',
    `This session does not have ${name}: a session keeps the actions and tools that it began with. Start a new session to use it, or call it without a session.`,
  );

const noSuchOperation = (name: string): AppError =>
  new AppError('not_found', `There is no operation ${name} that users may call.`);

/** Every operation takes an object as its input. */
const fields = z.record(z.string(), z.unknown());
