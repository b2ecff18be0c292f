import {
  hostQuestionPrefix,
  isCall,
  isEnded,
  isStarted,
  type Event,
  type EventArgs,
  type EventOf,
  type SessionSettings,
  type SessionState,
} from '@belay/protocol';
import { caseOf, type EventCases } from '../logs/event-cases.js';
import type { FinishedSpan, SpanAttributes, WorkKind } from './finished-span.js';
import {
  agentAttributes,
  chatSpan,
  contentAttribute,
  costAttributes,
  outputErrorCode,
  turnFailure,
  messagesAttribute,
  modelAttributes,
  boundedContent,
  boundedName,
  tokenAttributes,
} from './span-attributes.js';

/** Work that has begun. */
interface OpenSpan {
  kind: WorkKind;
  key: string;
  parent: string | null;
  root: string;
  name: string;
  begun: number;
  attributes: SpanAttributes;
}

/** A turn: from a message of the user until the agent has answered it, however long it waits in between. */
interface OpenTurn extends OpenSpan {
  /** Until its agent works. */
  starting: OpenSpan | null;
  /** The code of the last error that interrupted it. */
  error: string | null;
  input: string[];
  output: string;
}

/** Of one session. What is open beyond that is not followed, so that no log can fill the memory. */
const mostOpen = 1_000;
const mostMessages = 20;

/**
 * Folds a session’s log into spans, by the semantic conventions for generative AI. Pure: the same events give the same
 * spans. Texts of users, models and programs are left out unless `content` is set.
 */
export class SessionSpans {
  #turn: OpenTurn | null = null;
  /** Calls, questions and requests under way, by their ids. */
  readonly #open = new Map<string, OpenSpan>();
  /** A reply of the model whose text and calls have not been logged yet. */
  #reply: FinishedSpan | null = null;
  #agent: SessionSettings['agent'];
  #model: string | null = null;
  #messages: string[] = [];
  #hasEnded = true;
  #lastSeq = 0;
  /** Times in milliseconds since 1970. */
  #now = 0;
  #earliest = 0;
  #finished: FinishedSpan[] = [];
  readonly #cases: EventCases<void, undefined> = {
    start: (event) => this.#start(event),
    state: ({ args }) => this.#state(args.state),
    message: ({ args }) => this.#message(args.text),
    turn: (event) => this.#programTurn(event),
    change: ({ args }) => void (this.#model = args.model ?? this.#model),
    request: (event) => this.#request(event),
    usage: (event) => this.#usage(event),
    say: ({ args }) => this.#say(args),
    result: (event) => this.#result(event),
    'background-result': (event) => this.#endCall(event),
    approval: (event) => this.#approval(event),
    approve: (event) => this.#verdict(event, 'approved'),
    reject: (event) => this.#verdict(event, 'rejected'),
    error: ({ args }) => this.#interrupted(args.code),
    // The events before are copies of those of another session.
    fork: () => this.#reset(),
    imported: () => this.#reset(),
  };

  constructor(
    private readonly session: string,
    private readonly options: { content: boolean },
  ) {}

  /** Whether nothing is under way, so that a new instance would go on in the same way. */
  get isIdle(): boolean {
    return this.#hasEnded && !this.#turn && !this.#reply && this.#open.size === 0;
  }

  /** The last event so far; 0 if there was none. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Returns the spans that end with these events, which are the next ones of the log. */
  add(events: readonly Event[]): FinishedSpan[] {
    this.#finished = [];
    for (const event of events) {
      const time = Math.max(this.#earliest, Date.parse(event.time));
      // A sandbox may write any time that has passed; what follows an event of the server is not older.
      if (event.source !== 'agent') this.#earliest = time;
      this.#now = time;
      this.#lastSeq = event.seq;
      if (isCall(event.action)) this.#call(event);
      else caseOf(this.#cases, event, undefined);
    }
    return this.#finished;
  }

  #start({ args, seq }: EventOf<'start'> & Event): void {
    if (this.#turn) this.#endTurn('unfinished');
    this.#forgetCalls();
    this.#agent = args.agent;
    this.#model = args.model;
    this.#hasEnded = false;
    if (!args.again) this.#message(args.task);
    const turn = this.#openTurn(seq);
    turn.starting = this.#opened('start', seq, 'start_sandbox', {});
  }

  #openTurn(seq: number): OpenTurn {
    const agent = agentAttributes(this.#agent);
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      ...agent,
      ...(this.#model !== null && modelAttributes(this.#model)),
    };
    const name = `invoke_agent ${String(agent['gen_ai.agent.name'])}`;
    const span = this.#opened('turn', seq, name, attributes);
    const texts = { input: this.#messages, output: '' };
    this.#messages = [];
    return (this.#turn = { ...span, ...texts, starting: null, error: null });
  }

  #message(text: string): void {
    if (!this.options.content) return;
    const messages = this.#turn?.input ?? this.#messages;
    if (messages.length < mostMessages) messages.push(boundedContent(text));
  }

  #state(state: SessionState): void {
    const turn = this.#turn;
    if (state === 'running' && turn?.starting) {
      this.#end(turn.starting);
      turn.starting = null;
    }
    if (!isEnded(state)) return;
    this.#hasEnded = true;
    this.#endReply();
    // Its sandbox may be gone. Requests to models and questions still get their end.
    for (const [id, span] of this.#open) {
      if (span.kind !== 'call') continue;
      this.#open.delete(id);
      this.#end(span, 'cancelled');
    }
    if (this.#turn) this.#endTurn(state);
  }

  /** The program of another vendor says itself where a turn ends; the next one can follow in the same run. */
  #programTurn({ args, seq }: EventOf<'turn'> & Event): void {
    if (args.change === 'began' && !this.#turn) this.#openTurn(seq);
    if (args.change === 'ended' && this.#turn) this.#endTurn(args.end);
  }

  #interrupted(code: string): void {
    if (this.#turn) this.#turn.error = code;
  }

  #request({ args, seq }: EventOf<'request'> & Event): void {
    const { request, model } = args;
    this.#begin(`request:${request}`, this.#opened('request', seq, ...chatSpan(model)));
  }

  #usage({ args, seq }: EventOf<'usage'> & Event): void {
    const key = `request:${args.request ?? seq}`;
    const begun = Math.max(0, this.#now - (args.seconds ?? 0) * 1000);
    const known = this.#open.get(key);
    this.#open.delete(key);
    const span = known ?? { ...this.#opened('request', seq, ...chatSpan(args.model)), begun };
    const tokens = tokenAttributes(args);
    const error = args.purpose === 'failed' ? 'model_failed' : null;
    // A text for the user is none of the agent’s work.
    if (args.purpose !== 'draft') this.#count(tokens, error);
    const used = { 'belay.purpose': args.purpose, ...tokens, ...costAttributes(args) };
    Object.assign(span.attributes, used);
    this.#endReply();
    const ended = this.#finish(span, error);
    // The agent logs the reply next; what a program was sent is in no event of its own.
    if (args.purpose === 'turn' && !args.request) this.#reply = ended;
    else this.#finished.push(ended);
  }

  /** A request that succeeds ends an interruption of the turn. */
  #count(tokens: Record<string, number>, error: string | null): void {
    if (!this.#turn) return;
    this.#turn.error = error;
    const { attributes } = this.#turn;
    for (const [name, count] of Object.entries(tokens))
      attributes[name] = Number(attributes[name] ?? 0) + count;
  }

  #say({ text, calls, cut }: EventArgs<'say'>): void {
    if (this.#turn && this.options.content && text !== '') this.#turn.output = boundedContent(text);
    if (!this.#reply) return;
    const reason = cut ? 'length' : calls.length > 0 ? 'tool_call' : 'stop';
    this.#reply.attributes['gen_ai.response.finish_reasons'] = [reason];
    if (this.options.content)
      this.#reply.attributes['gen_ai.output.messages'] = messagesAttribute('assistant', text);
    this.#endReply();
  }

  #endReply(): void {
    if (this.#reply) this.#finished.push(this.#reply);
    this.#reply = null;
  }

  #call({ id, seq, action, source, args }: Event): void {
    if (id === undefined) return;
    const tool = boundedName(action);
    const attributes: SpanAttributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': boundedName(id),
      'belay.caller': source,
      ...(this.options.content && { 'gen_ai.tool.call.arguments': contentAttribute(args) }),
    };
    this.#begin(`call:${id}`, this.#opened('call', seq, `execute_tool ${tool}`, attributes));
  }

  #result(event: EventOf<'result'> & Event): void {
    // The end of its work in the background is an event of its own.
    if (isStarted(event.args) && !this.#hasEnded) return;
    this.#endCall(event);
  }

  #endCall({ id, args }: Event & EventOf<'result' | 'background-result'>): void {
    const key = `call:${id}`;
    const call = this.#open.get(key);
    if (!call) return;
    this.#open.delete(key);
    if (this.options.content)
      call.attributes['gen_ai.tool.call.result'] = contentAttribute(args.output);
    this.#end(call, args.ok ? null : outputErrorCode(args.output));
  }

  #approval({ args, seq, id = args.id }: EventOf<'approval'> & Event): void {
    const attributes = {
      'belay.approval.mode': args.mode,
      'belay.approval.risk': args.risk,
      'gen_ai.tool.name': id.startsWith(hostQuestionPrefix)
        ? 'egress'
        : boundedName(args.operation),
    };
    const call = this.#open.get(`call:${id}`);
    const opened = this.#opened('approval', seq, 'approval', attributes);
    const place = call ? { parent: call.key, root: call.root } : {};
    this.#begin(`approval:${id}`, { ...opened, ...place });
  }

  #verdict(
    { id, source, args }: Event & EventOf<'approve' | 'reject'>,
    verdict: 'approved' | 'rejected',
  ): void {
    const by = !args.by || args.by.kind === 'caller' ? source : args.by.kind;
    const decided = { 'belay.approval.verdict': verdict, 'belay.approval.by': by };
    const call = this.#open.get(`call:${id}`);
    if (call) Object.assign(call.attributes, decided);
    const key = `approval:${id}`;
    const question = this.#open.get(key);
    if (!question) return;
    this.#open.delete(key);
    this.#end({ ...question, attributes: { ...question.attributes, ...decided } });
  }

  /** What an earlier sandbox never ended has no end in the log. */
  #forgetCalls(): void {
    for (const [id, { kind }] of this.#open) if (kind !== 'request') this.#open.delete(id);
  }

  #endTurn(end: string): void {
    const turn = this.#turn;
    if (!turn) return;
    this.#endReply();
    this.#turn = null;
    const { starting, error, input, output, ...span } = turn;
    const failure = turnFailure(end, error);
    if (starting) this.#end(starting, failure);
    span.attributes['belay.turn.end'] = end;
    if (this.options.content) {
      span.attributes['gen_ai.input.messages'] = messagesAttribute('user', input.join('\n\n'));
      span.attributes['gen_ai.output.messages'] = messagesAttribute('assistant', output);
    }
    this.#end(span, failure);
  }

  #reset(): void {
    this.#hasEnded = true;
    this.#turn = null;
    this.#reply = null;
    this.#open.clear();
    this.#messages = [];
    this.#finished = [];
  }

  #opened(kind: WorkKind, seq: number, name: string, attributes: SpanAttributes): OpenSpan {
    const key = `${kind}:${seq}`;
    const turn = this.#turn;
    const place = { parent: turn?.key ?? null, root: turn?.key ?? key };
    const all = { 'gen_ai.conversation.id': this.session, ...attributes };
    return { kind, key, ...place, name, begun: this.#now, attributes: all };
  }

  #begin(id: string, span: OpenSpan): void {
    if (this.#open.size < mostOpen) this.#open.set(id, span);
  }

  #end(span: OpenSpan, error: string | null = null): void {
    this.#finished.push(this.#finish(span, error));
  }

  #finish(span: OpenSpan, error: string | null): FinishedSpan {
    const { begun } = span;
    return { ...span, session: this.session, ended: Math.max(begun, this.#now), error };
  }
}
