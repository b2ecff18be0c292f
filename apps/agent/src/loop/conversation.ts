import type { ApprovalMode, EventArgs, OperationCall, SessionSettings } from '@belay/protocol';
import type { KnownFile } from '../known-file.js';

/** A message of the user, with its number in the log. */
export type UserMessage = EventArgs<'message'> & { readonly seq: number };

export type CallResult = EventArgs<'result'>;

/** One reply of the model with the results of its calls so far. */
export interface ModelTurn {
  readonly seq: number;
  readonly say: EventArgs<'say'>;
  readonly results: ReadonlyMap<string, CallResult>;
  /** Long results are shown shortened. */
  readonly shortened: boolean;
}

/**
 * Never changed once it is part of a conversation, so that what is derived of one can be kept with it. A text that is
 * `told` comes from the platform and from no user.
 */
export type Item =
  | { readonly kind: 'turn'; readonly turn: ModelTurn }
  | { readonly kind: 'text'; text: string; images: string[]; pinned: boolean; told?: true }
  | { readonly kind: 'nudge'; say: EventArgs<'say'> }
  /** What the end of a prompt said of budgets. */
  | { readonly kind: 'notice'; text: string }
  | { readonly kind: 'summary'; summary: string; plan: string | null; dropped: number };

/** A call of the last reply that has no result yet. `begun` when it was started. */
export interface OpenCall {
  call: OperationCall;
  begun: boolean;
}

/** A call that goes on in the background. `left` when the model was told that finishing leaves it behind. */
export interface BackgroundCall {
  readonly id: string;
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly left: boolean;
}

/** Whether a message answers a question of the agent; a review is about its work. */
export const isAnswer = ({ review }: UserMessage): boolean => !review;

/** The conversation that a log holds. */
export interface Conversation {
  settings: SessionSettings | null;
  items: readonly Item[];
  open: readonly OpenCall[];
  /** Messages of the user that are not part of the conversation yet. */
  waiting: readonly UserMessage[];
  /** Those of `items` that no prompt has shown yet. */
  delivered: readonly UserMessage[];
  /** The ends of background commands that are not part of the conversation yet, a text each. */
  ends: readonly string[];
  /** Results of calls in the background that are not part of the conversation yet, a text each. */
  backgroundResults: readonly string[];
  /** Calls whose results are still to come. */
  background: readonly BackgroundCall[];
  /** What the user did by hand that is not part of the conversation yet, a sentence each. */
  notes: readonly string[];
  plan: string | null;
  /** What the model was told last of budgets that are nearly spent. */
  notice: string | null;
  /** All guidance that the agent follows, by path. */
  guidance: ReadonlyMap<string, string>;
  /** What of it was there before the first reply, and so in the prompt from its beginning. */
  openingGuidance: ReadonlyMap<string, string>;
  /** What the model has seen of files, by path. */
  files: ReadonlyMap<string, KnownFile>;
  /** What the prompt says of the sandbox; null before the first reply. */
  sandbox: string | null;
  /** Whether the user trusts guidance of the workspace: that of its begin, and the texts named here. */
  trusted: boolean;
  /** Hashes of the texts that the user has trusted, by path. */
  trustedTexts: ReadonlyMap<string, ReadonlySet<string>>;
  /** The mode of approvals as it is now. */
  approvals: ApprovalMode;
  paused: boolean;
  /** Nothing is to be done until the user writes or starts the session again. */
  ended: boolean;
  /** A question of the loop itself that waits for the user. */
  question: { id: string; question: string } | null;
}

/** The last item if it is a reply without calls. */
export function silentReply({ items }: Pick<Conversation, 'items'>): EventArgs<'say'> | null {
  const last = items.at(-1);
  return last?.kind === 'turn' && last.turn.say.calls.length === 0 ? last.turn.say : null;
}
