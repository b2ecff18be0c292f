import { Logger, type OnModuleDestroy } from '@nestjs/common';
import {
  WebSocketGateway,
  WebSocketServer,
  type OnGatewayConnection,
  type OnGatewayInit,
} from '@nestjs/websockets';
import {
  AppError,
  dashboardPath,
  faultOf,
  roleOfScope,
  viewerRequests,
  type Answer,
  type SessionSummary,
} from '@belay/protocol';
import type { z } from 'zod';
import { sees, seesAll } from '../../access/caller.js';
import { EvaluationService } from '../../evaluations/evaluation.service.js';
import { EventLog } from '../../logs/event-log.js';
import { Live } from '../../logs/live.js';
import { SessionRemoval } from '../../sessions/session-removal.js';
import { newestFirst } from '../../sessions/session.service.js';
import { TerminalLog } from '../../logs/terminal-log.js';
import { BrowserWatch } from './browser-watch.js';
import { EventFollowers } from './event-followers.js';
import { knownError, unexpected } from '../problem.js';
import { RequestBudget, tooManyRequests } from '../limits/request-budget.js';
import { SummaryFeed } from './summary-feed.js';
import { TerminalFollowers } from './terminal-followers.js';
import { TerminalSizes } from './terminal-sizes.js';
import { ViewerActions } from './viewer-actions.js';
import { isCongested, type ViewerServer, type ViewerSocket } from './viewer.js';

type Requests = typeof viewerRequests;
type Handlers = {
  [K in keyof Requests]: (socket: ViewerSocket, input: z.output<Requests[K]>) => Promise<void>;
};

interface Watched {
  events: EventFollowers;
  terminals: TerminalFollowers;
}

/** Sessions that one connection may follow at once. */
const maxWatched = 200;

const tooManySessions = (): AppError =>
  new AppError(
    'limit_reached',
    `At most ${maxWatched} sessions can be followed. Leave some first.`,
  );

/** Stateless, so that a flood of requests costs as little as possible. */
const tooMany: Promise<Answer> = Promise.resolve({
  ok: false,
  error: tooManyRequests().toJSON(),
});

/** The dashboard’s socket: sessions followed live, exact to the event and the byte. */
@WebSocketGateway({ path: dashboardPath, serveClient: false, transports: ['websocket', 'polling'] })
export class DashboardGateway implements OnGatewayInit, OnGatewayConnection, OnModuleDestroy {
  @WebSocketServer() private readonly server!: ViewerServer;
  readonly #logger = new Logger(DashboardGateway.name);
  readonly #watched = new Map<string, Watched>();
  #fleet!: SummaryFeed<'session'>;
  #evaluations!: SummaryFeed<'evaluation'>;
  #browsers!: BrowserWatch;
  #sizes!: TerminalSizes;
  readonly #endings: (() => void)[] = [];

  constructor(
    private readonly log: EventLog,
    private readonly terminals: TerminalLog,
    private readonly live: Live,
    private readonly removal: SessionRemoval,
    private readonly actions: ViewerActions,
    private readonly runs: EvaluationService,
  ) {}

  afterInit(server: ViewerServer): void {
    this.#fleet = new SummaryFeed(server, 'session', {
      list: async () => newestFirst(await this.log.summaries()),
      isSeen: sees,
      subscribe: (changed) => this.#subscribeToSessions(changed),
    });
    this.#evaluations = new SummaryFeed(server, 'evaluation', {
      list: () => this.runs.list(),
      isSeen: seesAll,
      subscribe: (changed) => this.runs.subscribe(changed),
    });
    this.#browsers = new BrowserWatch(this.actions.sandboxes, this.log, this.live);
    this.#sizes = new TerminalSizes(this.actions.sandboxes, this.log);
    this.live.on('delta', this.#showDelta);
    this.live.on('copied', this.#showCopied);
    this.live.on('output', this.#showOutput);
    this.#endings.push(
      () => this.live.off('delta', this.#showDelta),
      () => this.live.off('copied', this.#showCopied),
      () => this.live.off('output', this.#showOutput),
      this.removal.onRemoved((session) => this.#close(session)),
    );
  }

  /** Viewers that are connected now. */
  get viewers(): number {
    return this.server?.of('/').sockets.size ?? 0;
  }

  handleConnection(socket: ViewerSocket): void {
    const budget = new RequestBudget(roleOfScope(socket.data.access.caller.scope));
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
      for (const session of this.#watched.keys()) this.#unwatch(socket, session);
    });
  }

  onModuleDestroy(): void {
    for (const session of this.#watched.keys()) this.#close(session);
    for (const end of this.#endings) end();
    this.#fleet?.close();
    this.#evaluations?.close();
    this.#browsers?.close();
    this.#sizes?.close();
  }

  readonly #handlers: Handlers = {
    watch: async (socket, { session, after, terminals }) => {
      const { lastSeq } = await this.log.summary(session);
      if (after > lastSeq)
        throw new AppError(
          'invalid_input',
          `The log ends at event ${lastSeq}. Watch from there or before.`,
        );
      if (!socket.connected) return;
      if (this.#countWatched(socket) >= maxWatched) throw tooManySessions();
      const watched = this.#watch(session);
      watched.events.add(socket, after);
      await watched.terminals.add(socket, terminals);
    },
    unwatch: (socket, { session }) => {
      this.#browsers.set(socket, session, false);
      this.#sizes.remove(socket, session);
      this.#unwatch(socket, session);
      return Promise.resolve();
    },
    fleet: (socket) => this.#fleet.add(socket),
    evaluations: (socket) => this.#evaluations.add(socket),
    message: ({ data }, { session, ...message }) =>
      this.actions.message(session, message, data.access.caller),
    'message.edit': (_, edit) => this.actions.editMessage(edit),
    'message.withdraw': (_, withdrawn) => this.actions.withdrawMessage(withdrawn),
    'terminal.keys': (_, keys) => this.actions.keys(keys),
    'terminal.fit': (socket, fit) => this.#sizes.set(socket, fit),
    'terminal.hold': (_, hold) => this.actions.hold(hold),
    'terminal.open': (_, open) => this.actions.open(open),
    'browser.watch': (socket, { session, watched }) => {
      this.#browsers.set(socket, session, watched);
      return Promise.resolve();
    },
  };

  async #answer<K extends keyof Requests>(
    socket: ViewerSocket,
    name: K,
    input: unknown,
  ): Promise<Answer> {
    try {
      const { access } = socket.data;
      access.check(name);
      const parsed = viewerRequests[name].safeParse(input);
      if (!parsed.success) {
        throw new AppError('invalid_input', `${name}: ${faultOf(parsed.error)}.`);
      }
      const session = 'session' in parsed.data ? parsed.data.session : undefined;
      await access.run(name, session, () =>
        this.#handlers[name](socket, parsed.data as z.output<Requests[K]>),
      );
      return { ok: true, value: {} };
    } catch (error) {
      const known = knownError(error);
      if (!known) this.#logger.error(error);
      return { ok: false, error: (known ?? unexpected()).toJSON() };
    }
  }

  #subscribeToSessions(changed: (id: string, summary: SessionSummary | null) => void) {
    const endings = [
      this.log.subscribeAll((id, _events, summary) => changed(id, summary)),
      this.removal.onRemoved((id) => changed(id, null)),
    ];
    return () => {
      for (const end of endings) end();
    };
  }

  #countWatched(socket: ViewerSocket): number {
    return [...this.#watched.values()].filter(({ events }) => events.has(socket)).length;
  }

  #watch(session: string): Watched {
    const known = this.#watched.get(session);
    if (known) return known;
    const watched = {
      events: new EventFollowers(session, this.server, this.log),
      terminals: new TerminalFollowers(session, this.terminals),
    };
    this.#watched.set(session, watched);
    return watched;
  }

  #unwatch(socket: ViewerSocket, session: string): void {
    const watched = this.#watched.get(session);
    if (!watched) return;
    watched.events.remove(socket);
    watched.terminals.remove(socket);
    if (watched.events.size === 0) this.#close(session);
  }

  #close(session: string): void {
    const watched = this.#watched.get(session);
    this.#watched.delete(session);
    watched?.events.close();
    watched?.terminals.close();
  }

  readonly #showDelta = (delta: {
    session: string;
    kind: 'text' | 'reasoning';
    text: string;
  }): void => {
    for (const socket of this.#watched.get(delta.session)?.events.sockets() ?? []) {
      if (!isCongested(socket)) socket.emit('delta', delta);
    }
  };

  readonly #showOutput = (output: { session: string; call: string; text: string }): void => {
    for (const socket of this.#watched.get(output.session)?.events.sockets() ?? []) {
      if (!isCongested(socket)) socket.emit('output', output);
    }
  };

  readonly #showCopied = (copied: {
    session: string;
    done: number;
    total: number | null;
  }): void => {
    for (const socket of this.#watched.get(copied.session)?.events.sockets() ?? []) {
      if (!isCongested(socket)) socket.emit('copied', copied);
    }
  };
}
