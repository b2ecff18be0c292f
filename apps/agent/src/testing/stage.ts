import {
  AppError,
  agentCalls,
  fact,
  serverCalls,
  sessionSettings,
  type AgentEvent,
  type ApprovalRequest,
  type ApprovalVerdict,
  type Event,
  type McpOutput,
  type Message,
  type ModelReply,
  type ModelRequest,
  type SessionSettingsInput,
  type NewEvent,
} from '@belay/protocol';
import { memoryRopes, type Rope } from '@belay/rope';
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { runAgent } from '../agent.js';
import type { Rooms } from '../dispatch.js';
import type { Journal } from '../journal.js';
import { createPlan } from '../plan/plan.js';
import type { AgentRooms, MakeRooms } from '../rooms.js';

type Reply = Partial<Omit<ModelReply, 'calls'>> & {
  calls?: { operation: string; input?: unknown; id?: string; invalid?: string }[];
};
export type ModelTurn =
  Reply | Error | ((request: ModelRequest, signal: AbortSignal) => Promise<Reply> | Reply);

export interface StageOptions {
  settings?: Partial<SessionSettingsInput>;
  /** What the model replies, in order; then it calls finish. */
  turns: ModelTurn[];
  handlers?: Partial<Rooms>;
  approve?: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalVerdict>;
  guidance?: AgentRooms['guidance']['read'];
  /** What the server answers a logged call of an MCP tool. */
  mcp?: (call: { id: string }) => Promise<McpOutput>;
  /** Blobs of the server, as text. */
  blobs?: Record<string, string>;
  /** Real rooms in place of the fakes. */
  makeRooms?: MakeRooms;
  unpack?: (tar: Readable) => Promise<void>;
  /** The log to go on from. */
  events?: Event[];
  epoch?: number;
}

/** A server's side in memory with a scripted model, and an agent whose rooms are fakes: the loop is real. */
export class Stage {
  readonly log: Event[];
  readonly requests: ModelRequest[] = [];
  readonly commits: string[] = [];
  readonly killed: string[] = [];
  running: { terminal: string; command: string }[] = [];
  readonly ended: Promise<void>;
  readonly ropes = memoryRopes({ server: serverCalls, agent: agentCalls });
  readonly #options: StageOptions;
  readonly #greeted = Promise.withResolvers<void>();
  readonly #seqs = new Map<number, number>();
  readonly #personCalls = new Set<string>();
  #waiting = new Set<() => void>();
  #storedN = 0;
  #told = 0;
  /** How many appends fail for now. */
  refuseAppend = 0;
  /** A newer agent has the session. */
  fenced = false;

  constructor(options: StageOptions) {
    this.#options = options;
    const settings = this.settings;
    this.log = [...(options.events ?? [])];
    if (this.log.length === 0) {
      this.#store([fact('user', 'start', { args: settings, message: 'Go' })]);
    }
    this.serve(this.ropes.server);
    this.server.accept('terminal', async (_, stream) => void stream.resume());
    this.ended = runAgent({
      rope: this.ropes.agent,
      version: 'test',
      makeRooms: options.makeRooms ?? (async ({ journal }) => this.#rooms(journal)),
      unpack: options.unpack ?? (async () => {}),
    });
    this.ended.catch(() => undefined);
  }

  get settings() {
    return sessionSettings.parse({ task: 'Do it', model: 'scripted:x', ...this.#options.settings });
  }

  get server(): Rope<typeof serverCalls, typeof agentCalls> {
    return this.ropes.server;
  }

  /** Writes what a person or the server says into the log, and tells the agent. */
  async say(...events: NewEvent[]): Promise<void> {
    this.#store(events);
    await this.#tell();
  }

  message(text: string, more: object = {}): Promise<void> {
    return this.say(fact('user', 'message', { args: { text, ...more }, message: text }));
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

  /** Resolves when the agent has its session. */
  async begun(): Promise<void> {
    await this.#greeted.promise;
    const { settings, log } = this;
    const { epoch = 1 } = this.#options;
    // For the same session again it only waits.
    await this.server.call('session.begin', { session: 's1', settings, events: log, epoch });
  }

  /** Resolves when the model was asked so many times. */
  asked(times: number): Promise<void> {
    return this.until(() => this.requests.length >= times);
  }

  results(): Event[] {
    return this.log.filter((event) => event.action === 'result');
  }

  async close(): Promise<void> {
    await this.ropes.agent.close();
    await this.ended.catch(() => undefined);
  }

  serve(server: Rope<typeof serverCalls, typeof agentCalls>): void {
    const { epoch = 1 } = this.#options;
    const unserved = () => Promise.reject(new Error('not served on this stage'));
    server.serve({
      hello: async ({ session, lastSeq }) => {
        if (!session) setImmediate(() => this.#greeted.resolve());
        return {
          assignment: session
            ? null
            : { session: 's1', settings: this.settings, events: this.#mark(), epoch },
          events: session ? this.log.filter((event) => event.seq > lastSeq) : [],
          storedN: this.#storedN,
        };
      },
      'events.append': async ({ events }) => ({ seqs: this.#append(events) }),
      'model.generate': (request, { signal }) => this.#generate(request, signal),
      'approvals.request': async (request, { signal }) =>
        this.#options.approve?.(request, signal) ?? { verdict: 'approved' },
      'blobs.put': async ({ bytes }) => ({
        blob: createHash('sha256').update(bytes).digest('hex'),
      }),
      'blobs.get': async ({ blob }) => ({
        type: 'text/plain',
        bytes: new TextEncoder().encode(this.#options.blobs?.[blob]),
      }),
      'terminal.stored': async () => ({ offset: 0 }),
      'browser.frame': async () => ({}),
      'browser.sidecar': unserved,
      'mcp.call': this.#options.mcp ?? unserved,
      'web.search': unserved,
    });
  }

  #mark(): Event[] {
    this.#told = this.log.length;
    return [...this.log];
  }

  async #tell(): Promise<void> {
    const events = this.log.slice(this.#told).filter((event) => event.source !== 'agent');
    this.#told = this.log.length;
    if (events.length > 0) await this.server.call('session.events', { events });
  }

  #append(events: AgentEvent[]): number[] {
    if (this.fenced) throw new AppError('conflict', 'Another sandbox works on this session now.');
    if (this.refuseAppend-- > 0) throw new Error('The disk is slow.');
    return events.map(({ n, ...event }) => {
      const person = this.#personCalls.has(event.id ?? '');
      if (n > this.#storedN) {
        this.#storedN = n;
        this.#store([{ ...event, source: person ? 'user' : 'agent' }]);
        this.#seqs.set(n, this.log.length);
      }
      return this.#seqs.get(n) ?? 0;
    });
  }

  /** A person's call of an operation, by its door. */
  async call(id: string, operation: string, input: unknown): Promise<unknown> {
    this.#personCalls.add(id);
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
    const turn = this.#options.turns.shift() ?? { calls: [{ operation: 'finish' }] };
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

  #rooms(journal: Journal): AgentRooms {
    const { handlers = {}, guidance = async () => [] } = this.#options;
    const all = {
      ...createPlan({ journal }),
      'workspace.trust': async () => ({ files: [] }),
      'terminal.interrupt': async ({ terminal }: { terminal: string }) => {
        this.killed.push(terminal);
        this.running = this.running.filter((one) => one.terminal !== terminal);
      },
      ...handlers,
    };
    return {
      handlers: all as unknown as Rooms,
      terminals: {
        keys: () => {},
        resize: () => {},
        hold: () => {},
        open: async () => {},
        running: () => this.running,
      },
      history: {
        begin: async () => {},
        commit: async ({ id }) => void this.commits.push(id),
        export: () => Promise.reject(new Error('not on this stage')),
      },
      guidance: { handlers: { 'workspace.trust': async () => ({ files: [] }) }, read: guidance },
      describe: async () => 'A stage.',
      watch: () => {},
      page: () => null,
      close: async () => {},
    };
  }
}

export const lastText = (messages: Message[]): string => {
  const last = messages.at(-1);
  if (!last) return '';
  return last.role === 'tool' ? JSON.stringify(last.results) : last.text;
};
