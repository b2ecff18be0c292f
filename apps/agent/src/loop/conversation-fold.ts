import {
  byHandPrefix,
  callOf,
  foundIn,
  isEnded,
  isCall,
  isEvent,
  operationNamed,
  outputOf,
  rewinds,
  toldOf,
  type Event,
  type EventArgs,
  type EventOf,
} from '@belay/protocol';
import {
  isAnswer,
  silentReply,
  type CallResult,
  type Conversation,
  type ModelTurn,
  type TextItem,
  type UserMessage,
} from './conversation.js';
import { callThatRan } from './call-that-ran.js';
import { endsSession, isOwn, promptPosition } from './counted.js';
import { compactState } from './compacted.js';
import { endText } from './end-text.js';
import { begin, emptyState, forked, type Progress, type State } from './fold-state.js';
import * as ofProgram from './fold-program.js';
import { foundGuidance } from './guidance-text.js';
import { describeChange } from './describe-settings.js';
import { isDoubt } from './finish-doubts.js';
import { endCause, tellRestart } from './restart-text.js';
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
      ofProgram.beginCall(this.#progress, event);
      return;
    }
    const state = this.#state;
    this.#progress.position = promptPosition(event);
    if (isEvent(event, 'turn')) this.#programTurn(event.args);
    else if (isEvent(event, 'say')) this.#say(event.seq, event.args);
    else if (isEvent(event, 'result')) this.#result(event);
    else if (isEvent(event, 'plan')) state.plan = event.args.markdown;
    else if (isEvent(event, 'guidance')) this.#guide(event.args);
    else if (isEvent(event, 'exit')) this.#exit(event.args);
    else if (isEvent(event, 'commit')) this.#progress.work.commit(event);
    else if (isEvent(event, 'renewed')) this.#progress.renewed = true;
    else if (isEvent(event, 'compact')) compactState(state, this.#progress, event.args);
    else if (isEvent(event, 'error')) this.#fail(event.seq);
    else if (isEvent(event, 'end')) this.#endSession();
    else if (event.id && isCall(event.action)) this.#begin(event.id, event);
  }

  /** A copy that continues independently; it contains later events of others, too. */
  fork(): ConversationFold {
    return new ConversationFold(this.#others, ...forked(this.#state, this.#progress));
  }

  /** The conversation with all known events. */
  conversation(sandbox: string | null): Conversation {
    const fork = this.fork();
    fork.#includeThrough(Number.POSITIVE_INFINITY);
    const open = fork.#openCalls();
    const delivered = open.length === 0 ? fork.#deliver() : [];
    const { ends, background: results, work, shells } = fork.#progress;
    const notes = fork.#progress.notes.texts;
    const { pending: backgroundResults, running: background } = results;
    const program = ofProgram.withOpenCalls(fork.#state.program, fork.#progress.begun);
    const pending = { open, program, notes, ends, backgroundResults, background, delivered };
    return { ...fork.#state, ...pending, work, running: shells.running, sandbox };
  }

  /** A program takes messages only at the beginning of a turn. */
  #programTurn(turn: EventArgs<'turn'>): void {
    if (turn.change === 'began') {
      this.#includeThrough(turn.through);
      this.#deliver();
    }
    ofProgram.followTurn(this.#state, this.#progress, turn);
  }

  #say(seq: number, say: EventArgs<'say'>): void {
    if (this.#state.program?.hasTurn) return ofProgram.addProgramReply(this.#state, seq, say);
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
    const { shells, work } = this.#progress;
    const waits = shells.running.length > 0;
    const turn: ModelTurn = { seq, say, results: new Map(), shortened: null, waits };
    work.reply();
    for (const { operation } of say.calls) state.known.add(operation);
    state.items.push({ kind: 'turn', turn });
    state.ended = false;
    this.#progress.ended = null;
    this.#progress.turn = turn;
    this.#progress.turnEnded = say.calls.length === 0;
  }

  #begin(id: string, event: Event): void {
    this.#progress.begun.set(id, event);
    const asked = callOf(event, 'ask');
    if (asked && !this.#isCalled(id)) this.#state.question = { id, question: asked.args.question };
  }

  #result(event: EventOf<'result'> & Event): void {
    const { id = '', args: result } = event;
    const state = this.#state;
    this.#progress.work.end(event);
    const call = callThatRan(this.#progress.begun.get(id), result);
    this.#progress.begun.delete(id);
    this.#progress.background.answer(id, result, call);
    if (this.#progress.turn && this.#isCalled(id)) {
      this.#addResult(this.#progress.turn, id, result);
      const shown = state.files.addResult(result);
      if (shown) this.#progress.notes.showed(shown);
      this.#progress.shells.see(call, result);
      this.#progress.work.see(call, result);
      for (const name of foundIn(result)) state.known.add(name);
      state.doubted ||= isDoubt(result);
      if (outputOf('ask', result)) this.#takeAnswer();
      if (operationNamed(result.operation)?.servedBy === 'loop') this.#progress.turnEnded = true;
      if (outputOf('finish', result)) this.#endSession();
      this.#progress.background.leave(result);
    } else if (id === state.question?.id) {
      state.question = null;
      if (state.program?.hasTurn) this.#takeAnswer();
      else this.#progress.turnEnded = true;
    } else this.#noteOtherCall(call, result);
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
    const texts = new Map(files.map(({ path, text }) => [path, text] as const));
    state.guidance = new Map([...state.guidance, ...texts]);
    if (state.items.some(({ kind }) => kind === 'turn')) found.push(foundGuidance(texts));
    else state.openingGuidance = new Map([...state.openingGuidance, ...texts]);
  }

  /** A call that no reply asked for: of the user, or of a program. */
  #noteOtherCall(call: Event | undefined, result: CallResult): void {
    if (outputOf('finish', result)) return this.#endSession();
    if (!call) return;
    if (ofProgram.isOfProgram(this.#state, call))
      this.#state.items.push(ofProgram.programCall(call, result));
    else if (result.ok) this.#noteUserCall(call, result);
  }

  /** Tells the model about a user’s action in the sandbox. */
  #noteUserCall(call: Event, result: CallResult): void {
    if (callOf(call, 'workspace.trust')) this.#trust(result);
    else if (operationNamed(call.action)?.risk !== 'read')
      this.#progress.notes.add(byHandPrefix + toldOf(call, result), result);
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
  }

  #exit(end: EventArgs<'exit'>): void {
    this.#progress.ends.push(endText(end));
    this.#progress.shells.end(end);
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
    // A program cannot forget a part of its conversation.
    if (rewinds(event, 'conversation')) state.program = null;
    this.#progress.included++;
    this.#progress.work.include(event);
    if (isEvent(event, 'message')) {
      state.waiting.push({ ...event.args, seq: event.seq });
      state.ended = false;
    } else if (isEvent(event, 'start')) this.#start(event);
    else if (isEvent(event, 'change')) this.#noteChange(event.args);
    else if (isEvent(event, 'background-result'))
      this.#progress.background.add(event.id ?? '', event.args);
    else if (isEvent(event, 'fork') || isEvent(event, 'imported'))
      ofProgram.forgetElsewhere(state, this.#progress, event.action);
    else if (isEvent(event, 'restored')) ofProgram.forgetFiles(state, this.#progress, event.args);
    else if (isEvent(event, 'pause')) state.paused = true;
    else if (isEvent(event, 'resume')) {
      state.paused = false;
      this.#tryAgain();
    } else if (isEvent(event, 'state')) this.#ended(event.args);
    else if (endsSession(event)) this.#endSession();
    return true;
  }

  /** After a crash, the calls of an interrupted reply stay open for the next start. */
  #ended({ state, reason }: EventArgs<'state'>): void {
    if (!isEnded(state)) return;
    this.#progress.turnEnded = this.#state.ended = true;
    this.#progress.ended = endCause(state, reason);
    if (state === 'stopped' || state === 'limited') this.#progress.shells.stop();
  }

  /** After an error, the model is called again. */
  #tryAgain(): void {
    if (this.#progress.failed) this.#state.ended = false;
    this.#progress.failed = false;
  }

  #noteChange(change: EventArgs<'change'>): void {
    if (change.model !== undefined) this.#tryAgain();
    this.#state.approvals = change.approvals ?? this.#state.approvals;
    this.#state.agentOptions = { ...this.#state.agentOptions, ...change.agentOptions };
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
    this.#addText({ text: args.task, images: args.images, pinned: true, byUser: true });
  }

  /** Work before an error is not resumed after it, because the error would repeat. */
  #fail(seq: number): void {
    this.#includeThrough(seq);
    this.#endSession();
    this.#progress.failed = true;
  }

  /** Calls of the last reply without a result are no longer run. */
  #endSession(): void {
    const state = this.#state;
    state.ended = true;
    this.#progress.failed = false;
    state.question = null;
    this.#progress.background.end();
    this.#progress.turn = null;
    this.#progress.turnEnded = true;
  }

  /** Returns the users’ messages that become part of the conversation now. */
  #deliver(): UserMessage[] {
    const state = this.#state;
    tellRestart(state, this.#progress);
    const { found, changes: settings, ends, background, notes } = this.#progress;
    for (const text of found.splice(0)) this.#addText({ text, images: [], pinned: true });
    for (const text of settings.splice(0)) this.#addText({ text, images: [], pinned: false });
    const told = [...ends.splice(0).map((text) => ({ text, images: [] })), ...background.take()];
    for (const one of told) this.#addText({ ...one, pinned: false, told: true });
    for (const { text, changes } of notes.take()) {
      this.#addText({ text, images: [], pinned: false, changes });
      state.files.addChanges(changes);
    }
    if (state.question) return [];
    const { turnEnded } = this.#progress;
    const waits = ({ delivery }: UserMessage) => delivery === 'queue' && !turnEnded;
    const delivered = state.waiting.filter((message) => !waits(message));
    for (const { text, images, pinned } of delivered)
      this.#addText({ text, images, pinned, byUser: true });
    if (delivered.length > 0) state.doubted = this.#progress.turnEnded = false;
    state.waiting = state.waiting.filter(waits);
    return delivered;
  }

  #addText(text: Omit<TextItem, 'kind'>): void {
    this.#state.items.push({ kind: 'text', ...text });
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
