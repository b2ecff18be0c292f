import type { Event, FileChange } from '@belay/protocol';
import { BackgroundResults } from './background-results.js';
import type { Conversation, Item, ModelTurn, UserMessage } from './conversation.js';
import type { KnownFiles } from './known-files.js';

/** What the conversation shows once everything known is part of it. */
export interface State extends Omit<
  Conversation,
  'open' | 'sandbox' | 'notes' | 'ends' | 'backgroundResults' | 'background' | 'delivered'
> {
  items: Item[];
  waiting: UserMessage[];
  files: KnownFiles;
}

/** What the model is to be told of a change by hand. */
export interface Note {
  text: string;
  /** What changed, as a diff; empty when it is not known. */
  diff: string;
  changes: readonly FileChange[];
  /** Of `changes`, those that no refusal has shown; null when the diff is about more than `changes`. */
  untold: readonly FileChange[] | null;
}

/** How far the fold is, and what the next events depend on besides. */
export interface Progress {
  /** Calls that were started and have no result yet, by id. */
  begun: Map<string, Event>;
  notes: Note[];
  /** The versions of files that refusals have shown since the last prompt, by path. */
  shown: Map<string, string | null>;
  /** What the model is to be told of background commands that have ended. */
  ends: string[];
  background: BackgroundResults;
  /** Guidance that is not part of the conversation yet. */
  found: string[];
  /** What the user changed of the settings, for the next prompt. */
  changes: string[];
  pinnedAnswers: Item[];
  /** When an ended session was started again, until the model is told. */
  again: string | null;
  turn: ModelTurn | null;
  turnEnded: boolean;
  /** How many events of others are part of the conversation. */
  included: number;
  /** The position of the agent's last event. */
  position: number;
  /** All events of others up to this seq were taken to be known. */
  completeTo: number;
}

export const emptyState = (): State => ({
  settings: null,
  items: [],
  waiting: [],
  plan: null,
  notice: null,
  guidance: new Map(),
  openingGuidance: new Map(),
  files: new Map(),
  trusted: false,
  trustedTexts: new Map(),
  approvals: 'ask',
  paused: false,
  ended: false,
  question: null,
});

export const begin = (): Progress => ({
  begun: new Map(),
  notes: [],
  shown: new Map(),
  ends: [],
  background: new BackgroundResults(),
  found: [],
  changes: [],
  pinnedAnswers: [],
  again: null,
  turn: null,
  turnEnded: true,
  included: 0,
  position: Number.NEGATIVE_INFINITY,
  completeTo: Number.NEGATIVE_INFINITY,
});

/** What a refusal of the same prompt showed is not told again. */
export function noteText({ text, diff, changes, untold }: Note): string {
  if (diff === '') return text;
  const isShown = changes.length > 0 && untold?.length === 0;
  return `${text}\n${isShown ? 'What changed is in the refusal above.' : diff}`;
}
