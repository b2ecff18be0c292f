import { Logger, type OnModuleDestroy } from '@nestjs/common';
import {
  WebSocketGateway,
  WebSocketServer,
  type OnGatewayConnection,
  type OnGatewayInit,
} from '@nestjs/websockets';
import {
  dashboardPath,
  errorFrom,
  viewerRequests,
  type Answer,
  type SessionSummary,
  type ViewerRequests,
} from '@belay/protocol';
import type { z } from 'zod';
import { sees, seesAll, seesTerminals } from '../../access/caller.js';
import { EvaluationService } from '../../evaluations/evaluation.service.js';
import type { ShownPart } from '../../sessions/feed/follower.js';
import { FeedSources, SessionFollowers } from '../../sessions/feed/session-followers.js';
import { newestFirst } from '../../sessions/session.service.js';
import { BrowserWatch } from './browser-watch.js';
import { parsedInput } from '../../parsed-input.js';
import { sentError } from '../problem.js';
import { RequestBudget, tooManyRequests } from '../limits/request-budget.js';
import { SummaryFollowers } from './summary-followers.js';
import { TerminalSizes } from './terminal-sizes.js';
import { TerminalInput } from './terminal-input.js';
import {
  DashboardFollower,
  emitTo,
  type DashboardServer,
  type DashboardSocket,
} from './dashboard-socket.js';

type Requests = typeof viewerRequests;
type RequestInput<K extends keyof Requests> = z.output<Requests[K]['input']>;
type Handlers = {
  [K in keyof Requests]: (
    socket: DashboardSocket,
    input: RequestInput<K>,
  ) => Promise<object | void>;
};

/** Sessions that one connection may follow at once. */
const maxSessions = 200;

/** A shared value, so that a flood of requests costs as little as possible. */
const tooMany: Promise<Answer> = Promise.resolve({
  ok: false,
  error: tooManyRequests().toJSON(),
});

/** The dashboard’s socket: follows sessions live, without missing an event or a byte. */
@WebSocketGateway({ path: dashboardPath, serveClient: false, transports: ['websocket', 'polling'] })
export class DashboardGateway implements OnGatewayInit, OnGatewayConnection, OnModuleDestroy {
  @WebSocketServer() private readonly server!: DashboardServer;
  readonly #logger = new Logger(DashboardGateway.name);
  #followers!: SessionFollowers<DashboardFollower>;
  #fleet!: SummaryFollowers<'session'>;
  #evaluations!: SummaryFollowers<'evaluation'>;
  #browsers!: BrowserWatch;
  #sizes!: TerminalSizes;

  constructor(
    private readonly sources: FeedSources,
    private readonly input: TerminalInput,
    private readonly runs: EvaluationService,
  ) {}

  afterInit(server: DashboardServer): void {
    const { log, live } = this.sources;
    this.#followers = new SessionFollowers(this.sources, {
      maxSessions,
      // Each socket is in a room with its own id; a notice for many rooms is encoded once.
      sendAll: (followers, name, notice) =>
        emitTo(server.to(followers.map(({ socket }) => socket.id)), name, notice),
    });
    this.#fleet = new SummaryFollowers(server, 'session', {
      list: async () => newestFirst(await log.summaries()),
      isSeen: sees,
      subscribe: (changed) => this.#subscribeToSessions(changed),
    });
    this.#evaluations = new SummaryFollowers(server, 'evaluation', {
      list: () => this.runs.list(),
      isSeen: seesAll,
      subscribe: (changed) => this.runs.subscribe(changed),
    });
    this.#browsers = new BrowserWatch(this.input.sandboxes, log, live);
    this.#sizes = new TerminalSizes(this.input.sandboxes, log);
  }

  /** Viewers that are connected now. */
  get viewers(): number {
    return this.server?.of('/').sockets.size ?? 0;
  }

  handleConnection(socket: DashboardSocket): void {
    socket.data.follower = new DashboardFollower(socket, (session) => [
      ...this.#sizes.of(socket, session),
      ...this.#browsers.of(socket, session),
    ]);
    const budget = new RequestBudget(socket.data.access.caller);
    for (const name of Object.keys(viewerRequests) as (keyof Requests)[]) {
      socket.on(name, (input: unknown, answer: unknown) => {
        const reply = budget.take() ? this.#answer(socket, name, input) : tooMany;
        void reply.then((value) => {
          if (typeof answer === 'function') (answer as (value: Answer<unknown>) => void)(value);
        });
      });
    }
    socket.on('disconnect', () => {
      this.#fleet.remove(socket);
      this.#evaluations.remove(socket);
      this.#browsers.remove(socket);
      this.#sizes.remove(socket);
      this.#followers.remove(socket.data.follower);
    });
  }

  onModuleDestroy(): void {
    this.#followers?.close();
    this.#fleet?.close();
    this.#evaluations?.close();
    this.#browsers?.close();
    this.#sizes?.close();
  }

  readonly #handlers: Handlers = {
    watch: (socket, request) => this.#watch(socket, request),
    unwatch: (socket, { session }) => {
      this.#browsers.set(socket, session, false);
      this.#sizes.remove(socket, session);
      this.#followers.remove(socket.data.follower, session);
      return Promise.resolve();
    },
    fleet: (socket) => this.#fleet.add(socket),
    evaluations: (socket) => this.#evaluations.add(socket),
    'terminal.keys': (_, keys) => this.input.keys(keys),
    'terminal.fit': async (socket, fit) => {
      await this.#sizes.set(socket, fit);
      await this.#tell(socket, 'terminal.fit', fit);
    },
    'terminal.hold': (_, hold) => this.input.hold(hold),
    'terminal.open': (_, open) => this.input.open(open),
    'browser.watch': async (socket, request) => {
      this.#browsers.set(socket, request.session, request.watched);
      await this.#tell(socket, 'browser.watch', request);
    },
  };

  /** Tells the other server that has the session, if any, what the viewer shows of it. */
  async #tell<N extends ShownPart['name']>(
    { data: { follower } }: DashboardSocket,
    name: N,
    shown: ViewerRequests[N],
  ): Promise<void> {
    const answer = await this.sources.remote.request(follower, name, shown);
    if (answer && !answer.ok) throw errorFrom(answer.error);
  }

  async #watch(
    { data: { access, follower } }: DashboardSocket,
    request: RequestInput<'watch'>,
  ): Promise<object> {
    const { session } = request;
    if (!seesTerminals(access.caller, session)) {
      await this.#followers.add(follower, { ...request, terminals: 'none' });
      return {};
    }
    if (request.terminals !== 'now') {
      await this.#followers.add(follower, request);
      return {};
    }
    const known = await this.sources.terminals.list(session);
    const terminals = Object.fromEntries(known.map(({ terminal, size }) => [terminal, size]));
    await this.#followers.add(follower, { ...request, terminals });
    return { terminals };
  }

  async #answer<K extends keyof Requests>(
    socket: DashboardSocket,
    name: K,
    input: unknown,
  ): Promise<Answer<object>> {
    try {
      const { access } = socket.data;
      access.check(name);
      const schema: z.ZodType<RequestInput<keyof Requests>> = viewerRequests[name].input;
      const request = parsedInput(name, schema, input);
      const session = 'session' in request ? request.session : undefined;
      // What changes a session is done by the server that has it.
      if (session !== undefined && 'audit' in viewerRequests[name]) {
        const passed = request as ViewerRequests[K] & { session: string };
        const answer = await access.passOn(name, session, () =>
          this.sources.remote.request(socket.data.follower, name, passed),
        );
        if (answer) return answer;
      }
      const value = await access.run(name, session, () =>
        this.#handlers[name](socket, request as RequestInput<K>),
      );
      return { ok: true, value: value ?? {} };
    } catch (error) {
      return { ok: false, error: sentError(error, this.#logger).toJSON() };
    }
  }

  #subscribeToSessions(changed: (id: string, summary: SessionSummary | null) => void) {
    const endings = [
      this.sources.log.subscribeSummaries(changed),
      this.sources.removal.onRemoved((id) => changed(id, null)),
    ];
    return () => {
      for (const end of endings) end();
    };
  }
}
