import { AppError, describeCall, pathsOf } from '@belay/protocol';
import type { AgentServices } from './agent-services.js';
import type { CallContext } from './call-context.js';
import type { CheckedCall } from './check-call.js';
import type { SessionWriter } from './event-writer.js';
import { callInstalledAction, isAction } from './mcp/actions.js';
import { callMcp, isMcp } from './mcp/mcp.js';
import type { ServerConnection } from './server-connection.js';

type ChangesOfCall = Awaited<ReturnType<AgentServices['history']['changesOf']>>;

/** All handlers by name; `input` is the call’s input as parsed by the operation’s schema. */
interface HandlersByName {
  [name: string]: { handle(input: unknown, context: CallContext): Promise<unknown> }['handle'];
}

/** Runs calls of the model and the user, and records their changes in the history. */
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

  /** Starts the history; the workspace must be complete. Rejects when the services could not be opened. */
  async begin(): Promise<void> {
    const { history } = await this.#services;
    this.#recorded = history.begin();
  }

  /**
   * Runs a checked call; throws its handler’s errors. A call that may change files waits until the previous changes
   * are recorded.
   */
  async run(call: CheckedCall, context: CallContext): Promise<unknown> {
    // The server runs the logged call, so it must be stored first.
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

  /** Runs a call that changes nothing, independent of the history. */
  async runAtOnce(call: CheckedCall, context: CallContext): Promise<unknown> {
    const { handlers } = await this.#services;
    const byName: HandlersByName = handlers;
    const { operation, input } = call;
    const handler = byName[operation.name];
    if (!handler) throw new AppError('not_found', `${operation.name} is not served here.`);
    context.signal.throwIfAborted();
    return handler(input, context);
  }

  /** Starts recording a call’s changes; `paths` limits the search for them, by default to those that its input names. */
  record(
    id: string,
    { operation, input }: CheckedCall,
    paths: readonly string[] = pathsOf(operation, input),
  ): void {
    if (!operation.changesFiles) return;
    const checkPlan = async () => (await this.#services).plan.check(id);
    if (operation.commitsItself) {
      this.#recorded = this.#recorded.then(checkPlan);
      return;
    }
    const message = describeCall(operation, input);
    const commit = { id, message, ...(paths.length > 0 && { paths }) };
    this.#recorded = this.#recorded
      .then(async () => (await this.#services).history.commit(commit))
      .then(checkPlan);
  }

  /** A user’s call’s changes, once recorded; null if there are none. */
  async changesOf(id: string, { operation }: CheckedCall): Promise<ChangesOfCall> {
    if (!operation.changesFiles) return null;
    await this.#recorded;
    return (await this.#services).history.changesOf(id);
  }

  /** Resolves when all changes so far are recorded. */
  recorded(): Promise<void> {
    return this.#recorded;
  }
}
