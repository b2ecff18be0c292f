import {
  byHandPrefix,
  callOf,
  isEnded,
  isCall,
  isEvent,
  operationNamed,
  outputOf,
  toldOf,
  type Event,
  type EventArgs,
  type EventOf,
  type FileConflict,
} from '@belay/protocol';
import {
  isAnswer,
  silentReply,
  type CallResult,
  type Conversation,
  type Item,
  type ModelTurn,
  type UserMessage,
} from './conversation.js';
import { endsSession, isOwn, promptPosition } from './counted.js';
import { endText } from './end-text.js';
import { begin, emptyState, noteText, type Progress, type State } from './fold-state.js';
import { foundGuidance } from './guidance-text.js';
import { describeChange } from './describe-settings.js';
import { KnownFiles } from './known-files.js';
import { withTrusted } from './trusted-texts.js';

/**
 * The state of a conversation to which single events are added. Adding one takes constant time, and the conversation
 * is read from a copy with the same items; see `foldConversation` for the rules.
 */
export class ConversationFold {
  readonly #others: Event[];
  readonly #state: State;
  readonly #progress: Progress;

  constructor(others: Event[] = [], state = emptyState(), progress = begin()) {
    this.#others = others;
    this.#state = state;
    this.#progress = progress;
  }

  /** Whether adding this event gives the same state as folding the whole log with it. */
  follows(event: Event): boolean {
    return isOwn(event)
      ? promptPosition(event) >= this.#progress.position
      : event.seq > this.#progress.completeTo;
  }

  add(event: Event): void {
    if (!isOwn(event)) {
      this.#others.push(event);
      return;
    }
    const state = this.#state;
    this.#progress.position = promptPosition(event);
    if (isEvent(event, 'say')) this.#say(event.seq, event.args);
    else if (isEvent(event, 'result')) this.#result(event.id ?? '', event.args);
    else if (isEvent(event, 'plan')) state.plan = event.args.markdown;
    else if (isEvent(event, 'guidance')) this.#guide(event.args);
    else if (isEvent(event, 'exit')) this.#progress.ends.push(endText(event.args));
    else if (isEvent(event, 'compact')) this.#compact(event.args);
    else if (isEvent(event, 'error')) this.#fail(event.seq);
    else if (event.id && isCall(event.action)) this.#begin(event.id, event);
  }

  /** A copy that continues independently; it contains later events of others, too. */
  fork(): ConversationFold {
    const [state, progress] = [this.#state, this.#progress];
    return new ConversationFold(
      this.#others,
      {
        ...state,
        items: [...state.items],
        waiting: [...state.waiting],
        files: state.files.fork(),
      },
      {
        ...progress,
        notes: [...progress.notes],
        shown: new Map(progress.shown),
        ends: [...progress.ends],
        background: progress.background.fork(),
        found: [...progress.found],
        changes: [...progress.changes],
        pinnedAnswers: [...progress.pinnedAnswers],
        begun: new Map(progress.begun),
      },
    );
  }

  /** The conversation with all known events. */
  conversation(sandbox: string | null): Conversation {
    const fork = this.fork();
    fork.#includeThrough(Number.POSITIVE_INFINITY);
    const open = fork.#openCalls();
    const delivered = open.length === 0 ? fork.#deliver() : [];
    const notes = fork.#progress.notes.map(noteText);
    const { ends, background: results } = fork.#progress;
    const { pending: backgroundResults, running: background } = results;
    return { ...fork.#state, open, notes, ends, backgroundResults, background, sandbox, delivered };
  }

  #say(seq: number, say: EventArgs<'say'>): void {
    this.#includeThrough(say.seen?.others ?? seq);
    this.#deliver();
    const state = this.#state;
    state.files.show();
    const silent = silentReply(state);
    if (silent) state.items.push({ kind: 'nudge', say: silent });
    if (say.notice !== undefined) {
      state.items.push({ kind: 'notice', text: say.notice });
      state.notice = say.notice;
    }
    const turn: ModelTurn = { seq, say, results: new Map(), shortened: false };
    state.items.push({ kind: 'turn', turn });
    state.ended = false;
    this.#progress.turn = turn;
    this.#progress.turnEnded = say.calls.length === 0;
  }

  #begin(id: string, event: Event): void {
    this.#progress.begun.set(id, event);
    const asked = callOf(event, 'ask');
    if (!asked || this.#isCalled(id)) return;
    this.#state.question = { id, question: asked.args.question };
  }

  #result(id: string, result: CallResult): void {
    const state = this.#state;
    const call = this.#progress.begun.get(id);
    this.#progress.begun.delete(id);
    this.#progress.background.answer(id, result, call);
    if (this.#progress.turn && this.#isCalled(id)) {
      this.#addResult(this.#progress.turn, id, result);
      const shown = state.files.addResult(result);
      if (shown) this.#shown(shown);
      if (outputOf('ask', result)) this.#takeAnswer();
      if (operationNamed(result.operation)?.servedBy === 'loop') this.#progress.turnEnded = true;
      if (outputOf('finish', result)) this.#endSession();
      this.#progress.background.leave(result);
    } else if (id === state.question?.id) {
      state.question = null;
      this.#progress.turnEnded = true;
    } else if (call && result.ok) {
      this.#noteUserCall(call, result);
    }
  }

  #addResult(turn: ModelTurn, id: string, result: CallResult): void {
    const state = this.#state;
    const next = { ...turn, results: new Map([...turn.results, [id, result]]) };
    const index = state.items.findLastIndex((item) => item.kind === 'turn' && item.turn === turn);
    if (index >= 0) state.items[index] = { kind: 'turn', turn: next };
    this.#progress.turn = next;
  }

  /** Guidance found later is appended. Earlier items do not change, so the provider’s prompt cache stays valid. */
  #guide({ files }: EventArgs<'guidance'>): void {
    const [state, { found }] = [this.#state, this.#progress];
    const texts = files.map(({ path, text }) => [path, text] as const);
    state.guidance = new Map([...state.guidance, ...texts]);
    if (state.items.some(({ kind }) => kind === 'turn')) found.push(foundGuidance(new Map(texts)));
    else state.openingGuidance = new Map([...state.openingGuidance, ...texts]);
  }

  /** Tells the model about a user’s action in the sandbox. */
  #noteUserCall(call: Event, result: CallResult): void {
    if (callOf(call, 'workspace.trust')) this.#trust(result);
    else if (operationNamed(call.action)?.risk !== 'read') {
      const text = byHandPrefix + toldOf(call, result);
      const { note: diff = '', changes = [], moreChanges = false } = result;
      const { notes, shown } = this.#progress;
      const untold = changes.filter(({ path, version }) => shown.get(path) !== version);
      notes.push({ text, diff, changes, untold: moreChanges ? null : untold });
    }
  }

  /** Records that a refusal has shown all changes in a file up to this version. */
  #shown({ path, version }: FileConflict): void {
    const { notes, shown } = this.#progress;
    shown.set(path, version);
    this.#progress.notes = notes.map(({ untold, ...note }) => ({
      ...note,
      untold: untold && untold.filter((change) => change.path !== path),
    }));
  }

  #trust(result: CallResult): void {
    const [state, files] = [this.#state, outputOf('workspace.trust', result)?.files ?? []];
    state.trusted = true;
    state.trustedTexts = withTrusted(state.trustedTexts, files);
  }

  /** The first waiting message is the answer to `ask`, as the loop decided. */
  #takeAnswer(): void {
    const state = this.#state;
    while (!state.waiting.some(isAnswer) && this.#progress.included < this.#others.length)
      this.#includeNext();
    const answer = state.waiting.find(isAnswer);
    if (!answer) this.#progress.completeTo = Number.POSITIVE_INFINITY;
    state.waiting = state.waiting.filter((message) => message !== answer);
    if (!answer?.pinned) return;
    const { text, images } = answer;
    this.#progress.pinnedAnswers.push({ kind: 'text', text, images, pinned: true });
  }

  #includeThrough(seq: number): void {
    this.#progress.completeTo = Math.max(this.#progress.completeTo, seq);
    while ((this.#others[this.#progress.included]?.seq ?? Number.POSITIVE_INFINITY) <= seq) {
      if (!this.#includeNext()) return;
    }
  }

  /** False if there are no further events of others. */
  #includeNext(): boolean {
    const event = this.#others[this.#progress.included];
    if (!event) return false;
    const state = this.#state;
    this.#progress.included++;
    if (isEvent(event, 'message')) {
      state.waiting.push({ ...event.args, seq: event.seq });
      state.ended = false;
    } else if (isEvent(event, 'start')) this.#start(event);
    else if (isEvent(event, 'change')) this.#noteChange(event.args);
    else if (isEvent(event, 'background-result'))
      this.#progress.background.add(event.id ?? '', event.args);
    else if (isEvent(event, 'fork')) this.#progress.background.forget();
    else if (isEvent(event, 'pause')) state.paused = true;
    else if (isEvent(event, 'resume')) state.paused = false;
    else if (isEvent(event, 'state')) {
      // After a crash, the calls of an interrupted reply stay open for the next start.
      if (isEnded(event.args.state)) this.#progress.turnEnded = state.ended = true;
    } else if (endsSession(event)) this.#endSession();
    return true;
  }

  #noteChange(change: EventArgs<'change'>): void {
    this.#state.approvals = change.approvals ?? this.#state.approvals;
    const text = describeChange(change);
    if (text !== null) this.#progress.changes.push(text);
  }

  #start({ args, time }: EventOf<'start'>): void {
    const state = this.#state;
    state.trusted ||= args.trust;
    state.paused = false;
    if (state.settings) {
      if (!args.again) return;
      this.#progress.again = state.ended ? time : null;
      state.ended = false;
      return;
    }
    state.settings = args;
    state.approvals = args.approvals;
    this.#addText({ text: args.task, images: args.images, pinned: true });
  }

  /** Work before an error is not resumed after it, because the error would repeat. */
  #fail(seq: number): void {
    this.#includeThrough(seq);
    this.#endSession();
  }

  /** Calls of the last reply without a result are no longer run. */
  #endSession(): void {
    const state = this.#state;
    state.ended = true;
    state.question = null;
    this.#progress.background.end();
    this.#progress.turn = null;
    this.#progress.turnEnded = true;
  }

  /** Returns the users’ messages that become part of the conversation now. */
  #deliver(): UserMessage[] {
    const state = this.#state;
    // A user’s message is the better prompt to continue.
    const { again } = this.#progress;
    if (again !== null && state.waiting.length === 0) {
      const text = `The session was started again on ${again.slice(0, 10)}. Go on with the task.`;
      this.#progress.notes.push({ text, diff: '', changes: [], untold: null });
    }
    this.#progress.again = null;
    const { found, changes: settings, ends, background, notes, shown } = this.#progress;
    for (const text of found.splice(0)) this.#addText({ text, images: [], pinned: true });
    for (const text of settings.splice(0)) this.#addText({ text, images: [], pinned: false });
    const told = [...ends.splice(0).map((text) => ({ text, images: [] })), ...background.take()];
    for (const one of told) this.#addText({ ...one, pinned: false, told: true });
    for (const note of notes.splice(0)) {
      this.#addText({ text: noteText(note), images: [], pinned: false });
      state.files.addChanges(note.changes);
    }
    shown.clear();
    if (state.question) return [];
    const { turnEnded } = this.#progress;
    const waits = ({ delivery }: UserMessage) => delivery === 'queue' && !turnEnded;
    const delivered = state.waiting.filter((message) => !waits(message));
    for (const { text, images, pinned } of delivered) this.#addText({ text, images, pinned });
    if (delivered.length > 0) this.#progress.turnEnded = false;
    state.waiting = state.waiting.filter(waits);
    return delivered;
  }

  #addText(text: Omit<Extract<Item, { kind: 'text' }>, 'kind'>): void {
    this.#state.items.push({ kind: 'text', ...text });
  }

  #compact({ through, summary, dropped }: EventArgs<'compact'>): void {
    const state = this.#state;
    const { items, plan } = state;
    const last = items.findLastIndex((item) => item.kind === 'turn' && item.turn.seq <= through);
    const old = items.slice(0, last + 1);
    const rest = items.slice(last + 1);
    state.files = KnownFiles.shownIn(rest);
    if (summary === '') {
      state.items = [...old.map((item) => this.#shorten(item)), ...rest];
      return;
    }
    state.items = [
      ...old.filter((item) => item.kind === 'text' && item.pinned),
      ...this.#progress.pinnedAnswers.splice(0),
      { kind: 'summary', summary, plan, dropped: dropped.messages },
      ...rest,
    ];
  }

  #shorten(item: Item): Item {
    if (item.kind !== 'turn') return item;
    const turn = { ...item.turn, shortened: true };
    if (this.#progress.turn === item.turn) this.#progress.turn = turn;
    return { kind: 'turn', turn };
  }

  #isCalled(id: string): boolean {
    return this.#progress.turn?.say.calls.some((call) => call.id === id) ?? false;
  }

  #openCalls(): Conversation['open'] {
    const { turn, begun } = this.#progress;
    if (!turn || this.#state.ended) return [];
    return turn.say.calls
      .filter((call) => !turn.results.has(call.id))
      .map((call) => ({ call, begun: begun.has(call.id) }));
  }
}
