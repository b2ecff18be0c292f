import { AppError, describeCall, pathsOf } from '@belay/protocol';
import type { AgentServices } from './agent-services.js';
import type { CallContext } from './call-context.js';
import type { CheckedCall } from './check-call.js';
import type { SessionWriter } from './event-writer.js';
import { callInstalledAction, isAction } from './mcp/actions.js';
import { callMcp, isMcp } from './mcp/mcp.js';
import type { ServerConnection } from './server-connection.js';

type ChangesOfCall = Awaited<ReturnType<AgentServices['history']['changesOf']>>;

/** Any of them by its name: `input` is what the operation’s schema made of the call’s. */
interface HandlersByName {
  [name: string]: { handle(input: unknown, context: CallContext): Promise<unknown> }['handle'];
}

/** Runs the calls of the model and of the user, and records in the history what each changed. */
export class OperationRunner {
  readonly #connection: ServerConnection;
  readonly #services: Promise<AgentServices>;
  readonly #writer: Pick<SessionWriter, 'flush'>;
  #recorded: Promise<void> = Promise.resolve();

  constructor(
    connection: ServerConnection,
    services: Promise<AgentServices>,
    writer: Pick<SessionWriter, 'flush'>,
  ) {
    this.#connection = connection;
    this.#services = services;
    this.#writer = writer;
  }

  /** Begins the history; the workspace must be complete. Rejects when the services could not be opened. */
  async begin(): Promise<void> {
    const { history } = await this.#services;
    this.#recorded = history.begin();
  }

  /**
   * Runs a checked call; throws what its handler throws. A call that may change files waits until the history has
   * what the last one changed.
   */
  async run(call: CheckedCall, context: CallContext): Promise<unknown> {
    // The server runs the call that the log has.
    if (isMcp(call) || isAction(call)) await this.#writer.flush();
    if (isMcp(call)) return callMcp(this.#connection, context);
    const { placeSkill } = await this.#services;
    if (call.operation.changesFiles) await this.#recorded;
    if (isAction(call)) {
      const { name } = call.operation;
      return callInstalledAction(this.#connection, { ...context, name, placeSkill });
    }
    return this.runAtOnce(call, context);
  }

  /** Runs a call that changes nothing, whatever the history is doing. */
  async runAtOnce(call: CheckedCall, context: CallContext): Promise<unknown> {
    const { handlers } = await this.#services;
    const byName: HandlersByName = handlers;
    const { operation, input } = call;
    const handler = byName[operation.name];
    if (!handler) throw new AppError('not_found', `${operation.name} is not served here.`);
    context.signal.throwIfAborted();
    return handler(input, context);
  }

  /** Begins to record what a call changed. */
  record(id: string, { operation, input }: CheckedCall): void {
    if (!operation.changesFiles) return;
    const checkPlan = async () => (await this.#services).plan.check(id);
    if (operation.commitsItself) {
      this.#recorded = this.#recorded.then(checkPlan);
      return;
    }
    const paths = pathsOf(operation, input);
    const message = describeCall(operation, input);
    const commit = { id, message, ...(paths.length > 0 && { paths }) };
    this.#recorded = this.#recorded
      .then(async () => (await this.#services).history.commit(commit))
      .then(checkPlan);
  }

  /** What a user’s call changed, once it is recorded; null for nothing. */
  async changesOf(id: string, { operation }: CheckedCall): Promise<ChangesOfCall> {
    if (!operation.changesFiles) return null;
    await this.#recorded;
    return (await this.#services).history.changesOf(id);
  }

  /** Resolves when the history has what was done so far. */
  recorded(): Promise<void> {
    return this.#recorded;
  }
}
