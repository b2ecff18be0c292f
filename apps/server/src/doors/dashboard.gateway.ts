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
  viewerRequests,
  type Answer,
  type SessionSummary,
} from '@belay/protocol';
import type { z } from 'zod';
import { EvaluationService } from '../evaluations/evaluation.service.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { EventLog } from '../logs/event-log.js';
import { Live } from '../logs/live.js';
import { mayOnlyWatch } from '../sessions/dispatcher.js';
import { SessionService } from '../sessions/session.service.js';
import { TerminalLog } from '../logs/terminal-log.js';
import { BrowserWatch } from './browser-watch.js';
import { EventFollowers } from './event-followers.js';
import { knownError, unexpected } from './problem.js';
import { SummaryFeed } from './summary-feed.js';
import { TerminalFollowers } from './terminal-followers.js';
import { TerminalSizes } from './terminal-sizes.js';
import { isCongested, type ViewerServer, type ViewerSocket } from './viewer.js';

type Requests = typeof viewerRequests;
type Handlers = {
  [K in keyof Requests]: (socket: ViewerSocket, input: z.output<Requests[K]>) => Promise<void>;
};

interface Watched {
  events: EventFollowers;
  terminals: TerminalFollowers;
}

/** What a viewer of the second token may ask. */
const readOnly: ReadonlySet<string> = new Set<keyof Requests>([
  'watch',
  'unwatch',
  'fleet',
  'evaluations',
  'browser.watch',
]);

/** The dashboard's socket: sessions followed live, exact to the event and the byte. */
@WebSocketGateway({ path: dashboardPath, serveClient: false, transports: ['websocket', 'polling'] })
export class DashboardGateway implements OnGatewayInit, OnGatewayConnection, OnModuleDestroy {
  @WebSocketServer() private readonly server!: ViewerServer;
  private readonly logger = new Logger(DashboardGateway.name);
  private readonly watched = new Map<string, Watched>();
  private fleet!: SummaryFeed<'session'>;
  private evaluations!: SummaryFeed<'evaluation'>;
  private browsers!: BrowserWatch;
  private sizes!: TerminalSizes;
  private readonly endings: (() => void)[] = [];

  constructor(
    private readonly log: EventLog,
    private readonly terminals: TerminalLog,
    private readonly live: Live,
    private readonly sessions: SessionService,
    private readonly sandboxes: SandboxService,
    private readonly runs: EvaluationService,
  ) {}

  afterInit(server: ViewerServer): void {
    this.fleet = new SummaryFeed(server, 'session', {
      list: () => this.sessions.list(),
      subscribe: (changed) => this.subscribeToSessions(changed),
    });
    this.evaluations = new SummaryFeed(server, 'evaluation', this.runs);
    this.browsers = new BrowserWatch(this.sandboxes, this.log, this.live);
    this.sizes = new TerminalSizes(this.sandboxes, this.log);
    this.live.on('delta', this.showDelta);
    this.endings.push(
      () => this.live.off('delta', this.showDelta),
      this.sessions.onRemoved((session) => this.close(session)),
    );
  }

  /** Viewers that are connected now. */
  get viewers(): number {
    return this.server?.of('/').sockets.size ?? 0;
  }

  handleConnection(socket: ViewerSocket): void {
    for (const name of Object.keys(viewerRequests) as (keyof Requests)[]) {
      socket.on(name, (input: unknown, answer: unknown) => {
        void this.answer(socket, name, input).then((value) => {
          if (typeof answer === 'function') (answer as (value: Answer<unknown>) => void)(value);
        });
      });
    }
    socket.on('disconnect', () => {
      this.fleet.remove(socket);
      this.evaluations.remove(socket);
      this.browsers.remove(socket);
      this.sizes.remove(socket);
      for (const session of this.watched.keys()) this.unwatch(socket, session);
    });
  }

  onModuleDestroy(): void {
    for (const session of this.watched.keys()) this.close(session);
    for (const end of this.endings) end();
    this.fleet?.close();
    this.evaluations?.close();
    this.browsers?.close();
    this.sizes?.close();
  }

  private readonly handlers: Handlers = {
    watch: async (socket, { session, after, terminals }) => {
      const { lastSeq } = await this.log.summary(session);
      if (after > lastSeq) throw new AppError('invalid_input', `The log ends at ${lastSeq}.`);
      if (!socket.connected) return;
      const watched = this.watch(session);
      watched.events.add(socket, after);
      await watched.terminals.add(socket, terminals);
    },
    unwatch: (socket, { session }) => {
      this.browsers.set(socket, session, false);
      this.sizes.remove(socket, session);
      this.unwatch(socket, session);
      return Promise.resolve();
    },
    fleet: (socket) => this.fleet.add(socket),
    evaluations: (socket) => this.evaluations.add(socket),
    'terminal.keys': async (_, { session, ...keys }) => {
      await this.agent(session).call('terminal.keys', keys);
    },
    'terminal.fit': (socket, fit) => this.sizes.set(socket, fit),
    'terminal.hold': async (_, { session, ...hold }) => {
      await this.agent(session).call('terminal.hold', hold);
    },
    'terminal.open': async (_, { session, terminal }) => {
      await this.agent(session).call('terminal.open', { terminal });
    },
    'browser.watch': (socket, { session, watched }) => {
      this.browsers.set(socket, session, watched);
      return Promise.resolve();
    },
  };

  private async answer<K extends keyof Requests>(
    socket: ViewerSocket,
    name: K,
    input: unknown,
  ): Promise<Answer> {
    try {
      if (socket.data.role === 'viewer' && !readOnly.has(name)) {
        throw mayOnlyWatch();
      }
      const parsed = viewerRequests[name].safeParse(input);
      if (!parsed.success) {
        throw new AppError('invalid_input', `${name}: ${faultOf(parsed.error)}.`);
      }
      await this.handlers[name](socket, parsed.data as z.output<Requests[K]>);
      return { ok: true, value: {} };
    } catch (error) {
      const known = knownError(error);
      if (!known) this.logger.error(error);
      return { ok: false, error: (known ?? unexpected()).toJSON() };
    }
  }

  private subscribeToSessions(changed: (id: string, summary: SessionSummary | null) => void) {
    const endings = [
      this.log.subscribeAll((id, _events, summary) => changed(id, summary)),
      this.sessions.onRemoved((id) => changed(id, null)),
    ];
    return () => {
      for (const end of endings) end();
    };
  }

  private agent(session: string) {
    const link = this.sandboxes.agent(session);
    if (link) return link;
    throw new AppError('conflict', 'The session has no sandbox now: restart it.');
  }

  private watch(session: string): Watched {
    const known = this.watched.get(session);
    if (known) return known;
    const watched = {
      events: new EventFollowers(session, this.server, this.log),
      terminals: new TerminalFollowers(session, this.terminals),
    };
    this.watched.set(session, watched);
    return watched;
  }

  private unwatch(socket: ViewerSocket, session: string): void {
    const watched = this.watched.get(session);
    if (!watched) return;
    watched.events.remove(socket);
    watched.terminals.remove(socket);
    if (watched.events.size === 0) this.close(session);
  }

  private close(session: string): void {
    const watched = this.watched.get(session);
    this.watched.delete(session);
    watched?.events.close();
    watched?.terminals.close();
  }

  private readonly showDelta = (delta: {
    session: string;
    kind: 'text' | 'reasoning';
    text: string;
  }): void => {
    for (const socket of this.watched.get(delta.session)?.events.sockets() ?? []) {
      if (!isCongested(socket)) socket.emit('delta', delta);
    }
  };
}
