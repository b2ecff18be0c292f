import {
  isEnded,
  isCall,
  isFact,
  operationNamed,
  type Event,
  type EventArgs,
  type OperationCall,
  type SessionSettings,
} from '@belay/protocol';
import { counted, isOwn, ownOrder } from './counted.js';

export type Answer = EventArgs<'result'>;

/** One reply of the model with the results of its calls so far. */
export interface Turn {
  seq: number;
  say: EventArgs<'say'>;
  results: Map<string, Answer>;
  /** Long results are shown shortened. */
  shortened: boolean;
}

export type Item =
  | { kind: 'turn'; turn: Turn }
  | { kind: 'text'; text: string; images: string[]; pinned: boolean }
  | { kind: 'nudge'; say: EventArgs<'say'> }
  | { kind: 'summary'; summary: string; plan: string | null; dropped: number };

/** A call of the last reply that has no result yet. `begun` when it was started. */
export interface OpenCall {
  call: OperationCall;
  begun: boolean;
}

/** What a log says about its conversation. */
export interface Conversation {
  settings: SessionSettings | null;
  items: Item[];
  open: OpenCall[];
  /** Messages of the person that are not part of the conversation yet. */
  waiting: EventArgs<'message'>[];
  plan: string | null;
  guidance: Map<string, string>;
  /** What the prompt says of the sandbox; null before the first reply. */
  sandbox: string | null;
  trusted: boolean;
  paused: boolean;
  /** Nothing is to be done until the person says something or starts the session again. */
  ended: boolean;
  /** A question of the loop itself that waits for the person. */
  question: { id: string; question: string } | null;
}

/**
 * Folds a log into its conversation. Pure: the same events give the same conversation, whenever and wherever.
 * The agent's events count in their order; those of others count as late as a prompt may have known them, so that
 * how the two interleave in the log changes nothing. A queued message joins at the end of a turn (a reply without
 * calls, `ask` or `finish`), a steering one before the next prompt; the answer to `ask` is the first that waits.
 */
export function conversation(events: readonly Event[]): Conversation {
  const valid = counted(events);
  const fold = new Fold(valid.filter((event) => !isOwn(event)));
  for (const event of ownOrder(valid)) fold.own(event);
  return { ...fold.end(), sandbox: sandboxOf(events) };
}

/** What the prompts say of the sandbox: the first reply wrote it down, also when it no longer counts. */
export function sandboxOf(events: readonly Event[]): string | null {
  const first = events.find((event) => isFact(event, 'say') && event.args.sandbox !== undefined);
  return first ? String(first.args['sandbox']) : null;
}

/** The reply without calls that is the last thing said, if it is. */
export function silentReply({ items }: Pick<Conversation, 'items'>): EventArgs<'say'> | null {
  const last = items.at(-1);
  return last?.kind === 'turn' && last.turn.say.calls.length === 0 ? last.turn.say : null;
}

class Fold {
  readonly #state: Conversation = {
    settings: null,
    items: [],
    open: [],
    waiting: [],
    plan: null,
    guidance: new Map(),
    sandbox: null,
    trusted: false,
    paused: false,
    ended: false,
    question: null,
  };
  readonly #begun = new Map<string, Event>();
  readonly #notes: string[] = [];
  readonly #pinnedAnswers: Item[] = [];
  #heard = 0;
  #again = false;
  #turn: Turn | null = null;
  #turnEnded = true;

  constructor(private readonly others: readonly Event[]) {}

  own(event: Event): void {
    const state = this.#state;
    if (isFact(event, 'say')) this.#say(event.seq, event.args);
    else if (isFact(event, 'result')) this.#result(event.id ?? '', event.args);
    else if (isFact(event, 'plan')) state.plan = event.args.markdown;
    else if (isFact(event, 'guidance')) {
      for (const file of event.args.files) state.guidance.set(file.path, file.text);
    } else if (isFact(event, 'compact')) this.#compact(event.args);
    else if (isFact(event, 'error')) this.#fail(event.seq);
    else if (event.id && isCall(event.action)) this.#begin(event.id, event);
  }

  end(): Conversation {
    this.#hear(Number.POSITIVE_INFINITY);
    const state = this.#state;
    state.open = this.#openCalls();
    if (state.open.length === 0) this.#deliver();
    return state;
  }

  #say(seq: number, say: EventArgs<'say'>): void {
    this.#hear(say.seen?.others ?? seq);
    this.#deliver();
    const silent = silentReply(this.#state);
    if (silent) this.#state.items.push({ kind: 'nudge', say: silent });
    const turn: Turn = { seq, say, results: new Map(), shortened: false };
    this.#state.items.push({ kind: 'turn', turn });
    this.#state.ended = false;
    this.#turn = turn;
    this.#turnEnded = say.calls.length === 0;
  }

  #begin(id: string, event: Event): void {
    this.#begun.set(id, event);
    if (event.action !== 'ask' || this.#isCalled(id)) return;
    this.#state.question = { id, question: String(event.args['question']) };
  }

  #result(id: string, answer: Answer): void {
    const turn = this.#turn;
    if (turn && this.#isCalled(id)) {
      turn.results.set(id, answer);
      if (answer.operation === 'ask' && answer.ok) this.#takeAnswer();
      if (answer.operation === 'ask' || answer.operation === 'finish') this.#turnEnded = true;
      if (answer.operation === 'finish' && answer.ok) this.#endSession();
    } else if (id === this.#state.question?.id) {
      this.#state.question = null;
      this.#turnEnded = true;
    } else {
      this.#noteByHand(id, answer);
    }
  }

  /** What a person did in the sandbox, so that the model is not surprised by it. */
  #noteByHand(id: string, answer: Answer): void {
    const call = this.#begun.get(id);
    if (!call || !answer.ok) return;
    if (call.action === 'workspace.trust') this.#state.trusted = true;
    else if (operationNamed(call.action)?.risk !== 'read')
      this.#notes.push(`The person did this by hand: ${call.message}`);
  }

  /** The first message that waits is the answer to `ask`, as the loop took it. */
  #takeAnswer(): void {
    while (this.#state.waiting.length === 0 && this.#heard < this.others.length) this.#hearNext();
    const answer = this.#state.waiting.shift();
    if (answer?.pinned) this.#pinnedAnswers.push({ kind: 'text', ...answer });
  }

  #hear(seq: number): void {
    for (
      let next = this.others[this.#heard];
      next && next.seq <= seq;
      next = this.others[this.#heard]
    ) {
      this.#hearNext();
    }
  }

  #hearNext(): void {
    const event = this.others[this.#heard++];
    const state = this.#state;
    if (!event) return;
    if (isFact(event, 'message')) {
      state.waiting.push(event.args);
      state.ended = false;
    } else if (isFact(event, 'start')) this.#start(event.args);
    else if (isFact(event, 'pause')) state.paused = true;
    else if (isFact(event, 'resume')) state.paused = false;
    else if (isFact(event, 'state')) {
      // The calls of a reply that was broken off by a crash stay open for the next start.
      if (isEnded(event.args.state)) this.#turnEnded = state.ended = true;
    } else if (isFact(event, 'stop') || isFact(event, 'limit') || isFact(event, 'rewind')) {
      if (!isFact(event, 'rewind') || event.args.what !== 'files') this.#endSession();
    }
  }

  #start(args: EventArgs<'start'>): void {
    const state = this.#state;
    state.trusted ||= args.trust;
    state.paused = false;
    if (state.settings) {
      if (!args.again) return;
      this.#again = state.ended;
      state.ended = false;
      return;
    }
    state.settings = args;
    state.items.push({ kind: 'text', text: args.task, images: args.images, pinned: true });
  }

  /** What was said before an error does not go on after it: that would fail again, and again. */
  #fail(seq: number): void {
    this.#hear(seq);
    this.#endSession();
  }

  /** Whatever of the last reply has no result is not run any more. */
  #endSession(): void {
    this.#state.ended = true;
    this.#state.question = null;
    this.#turn = null;
    this.#turnEnded = true;
  }

  #deliver(): void {
    const state = this.#state;
    // What the person says then is the better word to go on.
    if (this.#again && state.waiting.length === 0) {
      this.#notes.push('The session was started again. Go on with the task.');
    }
    this.#again = false;
    for (const text of this.#notes.splice(0)) {
      state.items.push({ kind: 'text', text, images: [], pinned: false });
    }
    if (state.question) return;
    const rest: EventArgs<'message'>[] = [];
    for (const message of state.waiting) {
      if (message.delivery === 'queue' && !this.#turnEnded) rest.push(message);
      else state.items.push({ kind: 'text', ...message });
    }
    if (rest.length < state.waiting.length) this.#turnEnded = false;
    state.waiting = rest;
  }

  #compact({ through, summary, dropped }: EventArgs<'compact'>): void {
    const { items, plan } = this.#state;
    const last = items.findLastIndex((item) => item.kind === 'turn' && item.turn.seq <= through);
    const old = items.slice(0, last + 1);
    if (summary === '') {
      for (const item of old) if (item.kind === 'turn') item.turn.shortened = true;
      return;
    }
    const kept = old.filter((item) => item.kind === 'text' && item.pinned);
    this.#state.items = [
      ...kept,
      ...this.#pinnedAnswers.splice(0),
      { kind: 'summary', summary, plan, dropped: dropped.messages },
      ...items.slice(last + 1),
    ];
  }

  #isCalled(id: string): boolean {
    return this.#turn?.say.calls.some((call) => call.id === id) ?? false;
  }

  #openCalls(): OpenCall[] {
    const turn = this.#turn;
    if (!turn || this.#state.ended) return [];
    return turn.say.calls
      .filter((call) => !turn.results.has(call.id))
      .map((call) => ({ call, begun: this.#begun.has(call.id) }));
  }
}
