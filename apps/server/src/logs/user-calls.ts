import { isDeepStrictEqual } from 'node:util';
import {
  AppError,
  isCall,
  maxShortText,
  withShortTexts,
  type NewEvent,
  type Operation,
} from '@belay/protocol';

/** What a user called. */
export interface UserCall {
  operation: Operation;
  input: Record<string, unknown>;
}

/** Users’ calls in progress. Agents write them to the log in the user’s name, but only as the user made them. */
export class UserCalls {
  readonly #calls = new Map<string, Map<string, UserCall>>();

  add(session: string, id: string, call: UserCall): void {
    const calls = this.#calls.get(session) ?? new Map<string, UserCall>();
    this.#calls.set(session, calls.set(id, call));
  }

  find(session: string, id: string): UserCall | undefined {
    return this.#calls.get(session)?.get(id);
  }

  remove(session: string, id: string): void {
    const calls = this.#calls.get(session);
    calls?.delete(id);
    if (calls?.size === 0) this.#calls.delete(session);
  }

  /** Removes those that ended with these events. */
  removeEnded(session: string, events: readonly NewEvent[]): void {
    for (const { action, id = '' } of events) if (action === 'result') this.remove(session, id);
  }

  removeAll(session: string): void {
    this.#calls.delete(session);
  }

  /**
   * The source of an event: `user` for the user’s call and its result, else `agent`. Throws `forbidden` when it
   * differs from the user’s call.
   */
  sourceOf(session: string, { id, action, args }: NewEvent): 'user' | 'agent' {
    const call = id === undefined ? undefined : this.find(session, id);
    if (!call) return 'agent';
    if (action === 'result') return 'user';
    if (!isCall(action)) return 'agent';
    const input: unknown = JSON.parse(JSON.stringify(call.input));
    const isSame = [input, withShortTexts(input, maxShortText)].some((each) =>
      isDeepStrictEqual(args, each),
    );
    if (action === call.operation.name && isSame) return 'user';
    throw new AppError('forbidden', `The user did not call ${action} like this.`);
  }
}
