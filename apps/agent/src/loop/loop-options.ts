import type { ModelReply, ModelRequest, NewEvent, Operation } from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import type { CheckedCall } from '../check-call.js';
import type { Spending } from './budget-notice.js';
import type { Conversation } from './conversation.js';

/** What the loop needs of the rest of the agent. */
export interface LoopOptions {
  log: ReadableLog;
  writer: {
    append(event: NewEvent): void;
    /** Resolves when everything appended is stored and in the log. */
    flush(): Promise<void>;
  };
  /** What the model may call, listed in its prompt or not: see `listedFor`. */
  offered: readonly Operation[];
  /** Throws limit_reached, context_overflow, model_failed, cancelled. */
  queryModel(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>;
  /** False when one of these queued messages was changed after the event `through`. */
  deliverMessages(messages: readonly number[], through: number): Promise<boolean>;
  /** Runs an operation; throws what its handler throws. */
  runCall(call: CheckedCall, context: CallContext): Promise<unknown>;
  hooks: LoopHooks;
  workspace: {
    /** The description of the sandbox for the model. */
    describe(): Promise<string>;
    /** Trusted guidance that counts for these paths and is not known yet; all of the workspace's root for none. */
    guidance(
      paths: readonly string[],
      known: ReadonlyMap<string, string>,
      trusted: Conversation['trustedTexts'],
    ): Promise<{ path: string; text: string }[]>;
    /** The address that the browser shows. */
    page(): string | null;
  };
}

export interface ReadableLog {
  readonly conversation: Conversation;
  /** The last events, of the agent and of all others, that are in the log. */
  readonly seen: { own: number; others: number };
  readonly spending: Spending;
  /** The conversation as it would be if the agent wrote this event next. */
  conversationWith(event: NewEvent): Conversation;
  /** Whether an id names a call in the log. */
  has(id: string): boolean;
  /** Resolves when others have written something; rejects when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
}

export interface LoopHooks {
  /** Called when a call is in the log and before it runs; throws when it may not run. */
  beforeCall(call: CheckedCall, context: CallContext): Promise<void>;
  /** Called when the result of a call is written. */
  afterCall(id: string, call: CheckedCall): void;
  /** What was refused of the sandbox's connections since the last call, for the model; never rejects. */
  refusals(): Promise<string | undefined>;
  /** Resolves when what the calls changed is recorded: called before a reply or the end is written. */
  settled(): Promise<void>;
}
