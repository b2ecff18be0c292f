import type { ModelReply, ModelRequest, NewEvent, Operation } from '@belay/protocol';
import type { CallContext } from '../call-context.js';
import type { CheckedCall } from '../check-call.js';
import type { Spending } from './budget-notice.js';
import type { Conversation } from './conversation.js';

/** The services that the loop uses. */
export interface LoopOptions {
  log: ReadableLog;
  writer: {
    append(event: NewEvent): void;
    /** Resolves when everything appended is stored and in the log. */
    flush(): Promise<void>;
  };
  /** The operations that the model may call, including unlisted ones: see `listedFor`. */
  offered: readonly Operation[];
  /** Throws limit_reached, context_overflow, model_failed, cancelled. */
  queryModel(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>;
  /** False if one of these queued messages was changed after the event `through`. */
  deliverMessages(messages: readonly number[], through: number): Promise<boolean>;
  /** Runs an operation; throws what its handler throws. */
  runCall(call: CheckedCall, context: CallContext): Promise<unknown>;
  hooks: LoopHooks;
  workspace: {
    /** The description of the sandbox for the model. */
    describe(): Promise<string>;
    /** Trusted guidance for these paths that is not known yet; without paths, that of the workspace’s root. */
    guidance(
      paths: readonly string[],
      known: ReadonlyMap<string, string>,
      trusted: Conversation['trustedTexts'],
    ): Promise<{ path: string; text: string }[]>;
    /** The address of the browser’s current page. */
    page(): string | null;
  };
}

export interface ReadableLog {
  readonly conversation: Conversation;
  /** The latest events in the log, of the agent and of all others. */
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
  /** Called before a logged call runs; returns the call as the user allowed it. Throws if it may not run. */
  beforeCall(call: CheckedCall, context: CallContext): Promise<CheckedCall>;
  /** Called when a call’s result is written. */
  afterCall(id: string, call: CheckedCall): void;
  /** Refused connections of the sandbox since the last call, for the model; never rejects. */
  refusals(): Promise<string | undefined>;
  /** Resolves when the calls’ changes are recorded; called before a reply or the end is written. */
  settled(): Promise<void>;
}
