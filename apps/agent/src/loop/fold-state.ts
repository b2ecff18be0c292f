import type { Event } from '@belay/protocol';
import { AgentWork } from './agent-work.js';
import { BackgroundResults } from './background-results.js';
import type { Conversation, Item, ModelTurn, UserMessage } from './conversation.js';
import { KnownFiles } from './known-files.js';
import { Notes } from './notes.js';
import { Shells } from './shells.js';

/** The conversation once every known event is part of it. */
export interface State extends Omit<
  Conversation,
  | 'open'
  | 'sandbox'
  | 'notes'
  | 'ends'
  | 'backgroundResults'
  | 'background'
  | 'delivered'
  | 'work'
  | 'running'
> {
  items: Item[];
  waiting: UserMessage[];
  known: Set<string>;
}

/** The fold’s progress, and other state that later events depend on. */
export interface Progress {
  /** Started calls without a result, by id. */
  begun: Map<string, Event>;
  notes: Notes;
  /** Texts for the model about ended background commands. */
  ends: string[];
  background: BackgroundResults;
  /** Guidance that is not part of the conversation yet. */
  found: string[];
  /** Changes of settings by the user, for the next prompt. */
  changes: string[];
  shells: Shells;
  work: AgentWork;
  /** Why the session last ended; null while it works. */
  ended: string | null;
  /** Whether another agent has taken over, until the model is told. */
  renewed: boolean;
  /** What lost files were put back without, since the last prompt; null if none were lost. */
  restored: readonly string[] | null;
  /** The time of a restart after the session’s end, until the model is told. */
  again: string | null;
  /** Whether an error has interrupted the work: resuming it or choosing another model continues it. */
  failed: boolean;
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
  doubted: false,
  known: new Set(),
  notice: null,
  guidance: new Map(),
  openingGuidance: new Map(),
  files: new KnownFiles(),
  trusted: false,
  trustedTexts: new Map(),
  approvals: 'ask',
  agentOptions: {},
  paused: false,
  program: null,
  ended: false,
  question: null,
});

export const begin = (): Progress => ({
  begun: new Map(),
  notes: new Notes(),
  ends: [],
  background: new BackgroundResults(),
  found: [],
  changes: [],
  shells: new Shells(),
  work: new AgentWork(),
  ended: null,
  renewed: false,
  restored: null,
  again: null,
  failed: false,
  turn: null,
  turnEnded: true,
  included: 0,
  position: Number.NEGATIVE_INFINITY,
  completeTo: Number.NEGATIVE_INFINITY,
});

/** Copies that continue independently. */
export const forked = (state: State, progress: Progress): [State, Progress] => [
  {
    ...state,
    items: [...state.items],
    waiting: [...state.waiting],
    files: state.files.fork(),
    known: new Set(state.known),
  },
  {
    ...progress,
    notes: progress.notes.fork(),
    ends: [...progress.ends],
    background: progress.background.fork(),
    found: [...progress.found],
    changes: [...progress.changes],
    shells: progress.shells.fork(),
    work: progress.work.fork(),
    begun: new Map(progress.begun),
  },
];
