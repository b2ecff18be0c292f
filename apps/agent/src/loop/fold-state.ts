import type { Event, FileChange } from '@belay/protocol';
import { BackgroundResults } from './background-results.js';
import type { Conversation, Item, ModelTurn, UserMessage } from './conversation.js';
import { KnownFiles } from './known-files.js';

/** The conversation once every known event is part of it. */
export interface State extends Omit<
  Conversation,
  'open' | 'sandbox' | 'notes' | 'ends' | 'backgroundResults' | 'background' | 'delivered'
> {
  items: Item[];
  waiting: UserMessage[];
}

/** A note for the model about a user’s change. */
export interface Note {
  text: string;
  /** The change as a diff; empty if it is unknown. */
  diff: string;
  changes: readonly FileChange[];
  /** Those of `changes` that no refusal has shown; null if the diff contains more than `changes`. */
  untold: readonly FileChange[] | null;
}

/** The fold’s progress, and other state that later events depend on. */
export interface Progress {
  /** Started calls without a result, by id. */
  begun: Map<string, Event>;
  notes: Note[];
  /** The versions of files that refusals have shown since the last prompt, by path. */
  shown: Map<string, string | null>;
  /** Texts for the model about ended background commands. */
  ends: string[];
  background: BackgroundResults;
  /** Guidance that is not part of the conversation yet. */
  found: string[];
  /** Changes of settings by the user, for the next prompt. */
  changes: string[];
  pinnedAnswers: Item[];
  /** The time of a restart after the session’s end, until the model is told. */
  again: string | null;
  turn: ModelTurn | null;
  turnEnded: boolean;
  /** The number of others’ events in the conversation. */
  included: number;
  /** The position of the agent's last event. */
  position: number;
  /** All events of others up to this seq are assumed to be known. */
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
  files: new KnownFiles(),
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

/** Leaves out changes that a refusal in the same prompt has shown. */
export function noteText({ text, diff, changes, untold }: Note): string {
  if (diff === '') return text;
  const isShown = changes.length > 0 && untold?.length === 0;
  return `${text}\n${isShown ? 'What changed is in the refusal above.' : diff}`;
}
