import type {
  ApprovalMode,
  EventArgs,
  FileChange,
  OperationCall,
  SessionSettings,
} from '@belay/protocol';
import type { AgentWork } from './agent-work.js';
import type { KnownFiles } from './known-files.js';
import type { RunningCommand } from './shells.js';

/** A user’s message, with its number in the log. */
export type UserMessage = EventArgs<'message'> & { readonly seq: number };

export type CallResult = EventArgs<'result'>;

/** One reply of the model, with its calls’ results so far. */
export interface ModelTurn {
  readonly seq: number;
  readonly say: EventArgs<'say'>;
  readonly results: ReadonlyMap<string, CallResult>;
  /** The number of characters above which its results are shown shortened; null if they are not. */
  readonly shortened: number | null;
  /** Whether a command of the agent was running when the reply was requested. */
  readonly waits: boolean;
}

export interface TextItem {
  readonly kind: 'text';
  text: string;
  images: string[];
  pinned: boolean;
  told?: true;
  byUser?: true;
  /** The users’ changes of files that it tells. */
  changes?: readonly FileChange[];
}

/**
 * Immutable once it is part of a conversation, so that derived data can be cached. A `told` text comes from the
 * platform, not from a user; a `byUser` text is what a user wrote, which is never summarized.
 */
export type Item =
  | { readonly kind: 'turn'; readonly turn: ModelTurn }
  | TextItem
  | { readonly kind: 'nudge'; say: EventArgs<'say'> }
  /** A notice about budgets at the end of a prompt. */
  | { readonly kind: 'notice'; text: string }
  | {
      readonly kind: 'summary';
      summary: string;
      plan: string | null;
      overview: string;
      dropped: number;
    };

/** A call of the last reply without a result; `begun` if it was started. */
export interface OpenCall {
  call: OperationCall;
  begun: boolean;
}

/** A call that runs in the background; `left` if the model was told that finishing abandons it. */
export interface BackgroundCall {
  readonly id: string;
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly left: boolean;
}

/** Whether a message answers the agent’s question; a review concerns its work instead. */
export const isAnswer = ({ review }: UserMessage): boolean => !review;

/** The conversation that an agent’s program keeps itself. */
export interface ProgramConversation {
  /** The program’s own id of it. */
  readonly id: string;
  /** Whether a turn has begun and not ended. */
  readonly hasTurn: boolean;
  /** The number of items that the prompts of its turns have included. */
  readonly included: number;
  /** Its calls, and questions about them, that have no result. */
  readonly open: readonly Pick<OperationCall, 'id' | 'operation'>[];
}

/** The conversation in a log. */
export interface Conversation {
  settings: SessionSettings | null;
  items: readonly Item[];
  open: readonly OpenCall[];
  /** Users’ messages that are not part of the conversation yet. */
  waiting: readonly UserMessage[];
  /** Items that no prompt has contained yet. */
  delivered: readonly UserMessage[];
  /** Texts about ended background commands that are not part of the conversation yet. */
  ends: readonly string[];
  /** Texts with background calls’ results that are not part of the conversation yet. */
  backgroundResults: readonly string[];
  /** Calls whose results are pending. */
  background: readonly BackgroundCall[];
  /** Sentences about the user’s actions that are not part of the conversation yet. */
  notes: readonly string[];
  plan: string | null;
  /** What the agent has done in the workspace. */
  work: Pick<AgentWork, 'changed' | 'undone' | 'checked' | 'edited' | 'steps'>;
  /** The agent’s commands that have not ended, as far as the model was told. */
  running: readonly RunningCommand[];
  /** Whether `finish` was refused once for what contradicts it, since the user’s last message. */
  doubted: boolean;
  /** The operations that the model has called or found. */
  known: ReadonlySet<string>;
  /** The model’s last notice about nearly spent budgets. */
  notice: string | null;
  /** All guidance that the agent follows, by path. */
  guidance: ReadonlyMap<string, string>;
  /** The guidance from before the first reply, which is at the start of the prompt. */
  openingGuidance: ReadonlyMap<string, string>;
  /** The parts of files that the model has seen, by path. */
  files: KnownFiles;
  /** The description of the sandbox in the prompt; null before the first reply. */
  sandbox: string | null;
  /** Whether the user trusts the workspace’s guidance: that of the start, and the texts listed here. */
  trusted: boolean;
  /** Hashes of the texts that the user has trusted, by path. */
  trustedTexts: ReadonlyMap<string, ReadonlySet<string>>;
  /** The current approval mode. */
  approvals: ApprovalMode;
  paused: boolean;
  /** What the user chose of the options that the program offers, by their ids. */
  agentOptions: Readonly<Record<string, string>>;
  /** The program that works on the session in place of the loop, once it has had a turn. */
  program: ProgramConversation | null;
  /** True while nothing is to be done until the user sends a message or restarts the session. */
  ended: boolean;
  /** A question of the loop that waits for the user’s answer. */
  question: { id: string; question: string } | null;
}

/** The last item, if it is a reply without calls. */
export function silentReply({ items }: Pick<Conversation, 'items'>): EventArgs<'say'> | null {
  const last = items.at(-1);
  return last?.kind === 'turn' && last.turn.say.calls.length === 0 ? last.turn.say : null;
}
