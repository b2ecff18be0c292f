import {
  AppError,
  agentCalls,
  ignoreError,
  newEvent,
  ReceivedPrompt,
  serverCalls,
  sessionSettings,
  type AgentEvent,
  type AgentProgram,
  type ApprovalRequest,
  type ApprovalVerdict,
  type Event,
  type ActionOutput,
  type McpOutput,
  type Message,
  type ModelReply,
  type ModelRequest,
  type SessionSettingsInput,
  type StartedAction,
  type NewEvent,
  type ServerService,
  type TranscriptFile,
  calledOperation,
  isCall,
  subjectOf,
} from '@belay/protocol';
import { memoryConnections, type RpcConnection } from '@belay/rpc';
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { runAgent, type AgentOptions } from '../agent.js';
import type { EventWriter } from '../event-writer.js';
import { fakeServices, type FakeServicesOptions } from './fake-services.js';
import type { AgentServices, CreateServices } from '../agent-services.js';

type Reply = Partial<Omit<ModelReply, 'calls'>> & {
  calls?: { operation: string; input?: unknown; id?: string; invalid?: string }[];
};
export type ScriptedReply =
  Reply | Error | ((request: ModelRequest, signal: AbortSignal) => Promise<Reply> | Reply);

export interface StageOptions extends Pick<AgentOptions, 'idle' | 'ending'>, FakeServicesOptions {
  settings?: Partial<SessionSettingsInput>;
  /** The model’s replies, in order; after them it calls finish. */
  turns: ScriptedReply[];
  approve?: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalVerdict>;
  /** Called before the server records that messages were delivered. */
  onDeliver?: (messages: number[]) => Promise<void>;
  /** Awaited before events are stored. */
  beforeAppend?: () => Promise<void>;
  /** The server’s output of a logged call of an MCP tool. */
  mcp?: (call: { id: string }) => Promise<McpOutput>;
  action?: (call: { id: string }) => Promise<ActionOutput | StartedAction>;
  /** Blobs of the server, as text. */
  blobs?: Record<string, string>;
  /** Real services in place of the fakes. */
  createServices?: CreateServices;
  unpack?: (tar: Readable) => Promise<void>;
  /** The log to continue from. */
  events?: Event[];
  epoch?: number;
  /** The session’s program. */
  program?: AgentProgram;
  /** The session’s program once the user has chosen another model. */
  laterProgram?: AgentProgram;
  /** The conversation so far as a file of the session’s program. */
  conversation?: (cwd: string) => TranscriptFile | null;
  /** The services configured on the server. */
  services?: ServerService[];
}

/** A server in memory with a scripted model, and an agent’s real loop with fake services. */
export class Stage {
  readonly log: Event[];
  readonly requests: ModelRequest[] = [];
  readonly commits: string[] = [];
  readonly killed: string[] = [];
  /** Queued messages that the agent has taken. */
  readonly delivered: number[] = [];
  /** What viewers saw of replies before the log had them. */
  readonly deltas: string[] = [];
  running: { terminal: string; command: string }[] = [];
  readonly ended: Promise<void>;
  readonly connections = memoryConnections({ server: serverCalls, agent: agentCalls });
  readonly #options: StageOptions;
  readonly #greeted = Promise.withResolvers<void>();
  readonly #seqs = new Map<number, number>();
  readonly #userCalls = new Set<string>();
  #waiting = new Set<() => void>();
  #storedN = 0;
  #sentLength = 0;
  /** How many of the next appends fail. */
  refuseAppend = 0;
  /** Whether a newer agent has taken over the session. */
  fenced = false;
  #writer: EventWriter | undefined;

  constructor(options: StageOptions) {
    this.#options = options;
    const { settings } = this;
    this.log = [...(options.events ?? [])];
    if (this.log.length === 0) {
      this.#store([newEvent('user', 'start', { args: settings, message: 'Go' })]);
    }
    this.serve(this.connections.server);
    this.server.accept('terminal', async (_, stream) => void stream.resume());
    this.ended = runAgent({
      connection: this.connections.agent,
      version: 'test',
      createServices: options.createServices ?? (async ({ writer }) => this.#services(writer)),
      unpack: options.unpack ?? (async () => {}),
      copies: () => Promise.reject(new Error('not on this stage')),
      check: () => Promise.reject(new Error('No check is run.')),
      idle: options.idle,
      ending: options.ending,
    });
    this.ended.catch(ignoreError('tests await `ended`'));
  }

  get settings() {
    return sessionSettings.parse({ task: 'Do it', model: 'scripted:x', ...this.#options.settings });
  }

  get server(): RpcConnection<typeof serverCalls, typeof agentCalls> {
    return this.connections.server;
  }

  /** Makes the agent write an event, as its services do. */
  append(event: NewEvent): void {
    this.#writer?.append(event);
  }

  /** Appends events of the user or the server to the log, and sends them to the agent. */
  async say(...events: NewEvent[]): Promise<void> {
    this.#store(events);
    await this.#send();
  }

  message(text: string, more: object = {}): Promise<void> {
    return this.say(newEvent('user', 'message', { args: { text, ...more }, message: text }));
  }

  async until(what: (log: Event[]) => boolean): Promise<void> {
    while (!what(this.log)) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  /** Resolves when the nth event of this action is in the log. */
  async event(action: string, nth = 1): Promise<Event> {
    const found = () => this.log.filter((event) => event.action === action)[nth - 1];
    await this.until(() => found() !== undefined);
    return found() as Event;
  }

  /** Resolves once the agent has begun its session. */
  async begun(): Promise<void> {
    await this.#greeted.promise;
    const { settings, log } = this;
    const { epoch = 1 } = this.#options;
    // If this session has already begun, the call only waits.
    await this.server.call('session.begin', { ...this.#program(), settings, events: log, epoch });
  }

  /** Resolves once the model has been called this many times. */
  asked(times: number): Promise<void> {
    return this.until(() => this.requests.length >= times);
  }

  results(): Event[] {
    return this.log.filter((event) => event.action === 'result');
  }

  async close(): Promise<void> {
    await this.connections.agent.close();
    await this.ended.catch(ignoreError('the test has asserted it'));
  }

  serve(server: RpcConnection<typeof serverCalls, typeof agentCalls>): void {
    const { epoch = 1 } = this.#options;
    const received = new ReceivedPrompt();
    const unserved = () => Promise.reject(new Error('not served on this stage'));
    server.serve({
      hello: async ({ session, lastSeq }) => {
        if (!session) setImmediate(() => this.#greeted.resolve());
        return {
          startPayload: session
            ? null
            : { ...this.#program(), settings: this.settings, events: this.#mark(), epoch },
          events: session ? this.log.filter((event) => event.seq > lastSeq) : [],
          storedN: this.#storedN,
          services: this.#options.services ?? [],
        };
      },
      'events.append': async ({ events }) => {
        await this.#options.beforeAppend?.();
        return { seqs: this.#append(events) };
      },
      'copies.stored': async () => noCopies,
      'program.conversation': async ({ cwd }) => ({
        file: this.#options.conversation?.(cwd) ?? null,
      }),
      'program.current': async ({ token }) => {
        const { laterProgram } = this.#options;
        if (!laterProgram) throw new AppError('conflict', 'Fake was removed from this server.');
        return { program: { ...laterProgram, token } };
      },
      'model.generate': async (call, { signal }) => this.#generate(received.take(call), signal),
      'messages.deliver': async ({ messages, through }) => {
        await this.#options.onDeliver?.(messages);
        const isChanged = this.log.some(
          ({ seq, action, args }) =>
            seq > through &&
            (action === 'edit' || action === 'withdraw') &&
            messages.includes(args['message'] as number),
        );
        if (isChanged) throw new AppError('conflict', 'The user changed a message meanwhile.');
        this.delivered.push(...messages);
        return {};
      },
      'approvals.request': async ({ id }, { signal }) =>
        this.#options.approve?.(this.#question(id), signal) ?? { verdict: 'approved' },
      'blobs.put': async ({ bytes }) => ({
        blob: createHash('sha256').update(bytes).digest('hex'),
      }),
      'blobs.get': async ({ blob }) => ({
        type: 'text/plain',
        bytes: new TextEncoder().encode(this.#options.blobs?.[blob]),
      }),
      'terminal.stored': async () => ({ offset: 0 }),
      'browser.frame': async () => ({}),
      'reply.delta': async ({ text }) => {
        this.deltas.push(text);
        return {};
      },
      'browser.sidecar': unserved,
      'egress.report': async () => ({ text: null }),
      'action.call': this.#options.action ?? unserved,
      'mcp.call': this.#options.mcp ?? unserved,
      'web.search': unserved,
    });
  }

  /** Built as the server does, from the call in the log. */
  #question(id: string): ApprovalRequest {
    const call = this.log.find((event) => event.id === id && isCall(event.action));
    if (!call) throw new Error(`The log has no call ${id}.`);
    const { action: operation, args: input } = call;
    const risk = calledOperation(operation)?.risk ?? 'read';
    return { id, operation, input, risk, subject: subjectOf(operation, input) };
  }

  #program() {
    const { program } = this.#options;
    return { session: 's1', ...(program && { program }) };
  }

  #mark(): Event[] {
    this.#sentLength = this.log.length;
    return [...this.log];
  }

  async #send(): Promise<void> {
    const events = this.log.slice(this.#sentLength).filter((event) => event.source !== 'agent');
    this.#sentLength = this.log.length;
    if (events.length > 0) await this.server.call('session.events', { events });
  }

  #append(events: AgentEvent[]): number[] {
    if (this.fenced) throw new AppError('conflict', 'Another sandbox works on this session now.');
    if (this.refuseAppend-- > 0) throw new Error('The disk is slow.');
    return events.map(({ n, ...event }) => {
      const isUserCall = this.#userCalls.has(event.id ?? '');
      if (n > this.#storedN) {
        this.#storedN = n;
        this.#store([{ ...event, source: isUserCall ? 'user' : 'agent' }]);
        this.#seqs.set(n, this.log.length);
      }
      return this.#seqs.get(n) ?? 0;
    });
  }

  /** Calls an operation as the user. */
  async call(id: string, operation: string, input: unknown): Promise<unknown> {
    this.#userCalls.add(id);
    return (await this.server.call('operation.call', { id, operation, input })).output;
  }

  #store(events: NewEvent[]): void {
    for (const event of events) {
      this.log.push({
        ...event,
        seq: this.log.length + 1,
        time: event.time ?? new Date().toISOString(),
      });
    }
    this.#wake();
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  async #generate(request: ModelRequest, signal: AbortSignal): Promise<ModelReply> {
    this.requests.push(structuredClone(request));
    this.#wake();
    const turn = this.#options.turns.shift() ?? {
      calls: [{ operation: 'finish', input: { summary: 'done' } }],
    };
    if (turn instanceof Error) throw turn;
    const reply = typeof turn === 'function' ? await turn(request, signal) : turn;
    const number = this.requests.length;
    return {
      text: '',
      finish: 'calls',
      usage: { inputTokens: 10, cachedTokens: 0, outputTokens: 1, dollars: null },
      contextTokens: 1000,
      ...reply,
      calls: (reply.calls ?? []).map((call, index) => ({
        id: `c${number}-${index + 1}`,
        input: {},
        ...call,
      })),
    };
  }

  #services(writer: EventWriter): AgentServices {
    this.#writer = writer;
    return fakeServices(this, writer, this.#options);
  }
}

export const lastText = (messages: Message[]): string => {
  const last = messages.at(-1);
  return last?.role === 'tool' ? JSON.stringify(last.results) : (last?.text ?? '');
};

const noCopies = { next: 1, steps: 0, repository: 0, commit: null, wanted: false };
