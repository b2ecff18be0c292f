import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { AppError, ignoreError } from '@belay/protocol';
import { EventLog } from '../logs/event-log.js';
import { Database } from '../storage/database.js';
import { LiveServers, type LiveServer } from '../storage/live-servers.js';
import type { OnLead } from '../storage/on-lead.js';

/** The time between two looks at the sessions of other servers, in milliseconds. */
const lookMs = 300;
/** The time between two looks for other servers, in milliseconds. */
const lookForServersMs = 1_000;

/** What shows whether a session has changed. */
interface SessionMark {
  id: string;
  owner: string | null;
  term: number;
  lastSeq: number;
}

/** Tells this server’s log, while it leads, what changes in the sessions of other servers. */
@Injectable()
export class OtherSessions implements OnLead, OnModuleDestroy {
  readonly #logger = new Logger(OtherSessions.name);
  readonly #closing = new AbortController();
  #looking: Promise<void> | undefined;
  /** Those that other servers had at the last look. */
  #known = new Map<string, SessionMark>();
  readonly #listeners = new Set<(servers: readonly LiveServer[]) => void>();

  constructor(
    private readonly log: EventLog,
    private readonly database: Database,
    private readonly servers: LiveServers,
  ) {}

  onLead(): void {
    if (this.servers.isShared) this.#looking = this.#look();
  }

  async onModuleDestroy(): Promise<void> {
    this.#closing.abort();
    await this.#looking;
  }

  /** Calls the listener with the other servers that are alive, at each look. Returns a function that unsubscribes. */
  onLook(listener: (servers: readonly LiveServer[]) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The other server that had a session at the last look. */
  serverOf(session: string): string | undefined {
    return this.#known.get(session)?.owner ?? undefined;
  }

  async #look(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const hasOthers = await this.lookOnce().catch((error: unknown) => {
        if (!signal.aborted) this.#logger.error(error);
        return true;
      });
      const pauseMs = hasOthers ? lookMs : lookForServersMs;
      await delay(pauseMs, undefined, { signal }).catch(ignoreError('it is closed'));
    }
  }

  /** Tells what has changed since the last look. Resolves with whether there is any other server. */
  async lookOnce(): Promise<boolean> {
    const others = await this.servers.others();
    const ids = others.map(({ id }) => id);
    for (const listener of this.#listeners) listener(others);
    if (ids.length === 0 && this.#known.size === 0) return false;
    const marks = ids.length === 0 ? [] : await this.#marksOf(ids);
    const found = new Map(marks.map((mark) => [mark.id, mark]));
    const before = this.#known;
    for (const [id, mark] of found) {
      const last = before.get(id);
      if (last?.owner !== mark.owner) this.log.elsewhere.moved(id);
      if (!last || isChanged(last, mark)) await this.#tell(id);
    }
    for (const id of before.keys()) {
      if (found.has(id)) continue;
      await this.#tell(id);
      this.log.elsewhere.moved(id);
    }
    // What failed is told again.
    this.#known = found;
    return ids.length > 0;
  }

  #marksOf(servers: readonly string[]): Promise<SessionMark[]> {
    return this.database.kysely
      .selectFrom('session')
      .select(['id', 'owner', 'term', 'last_seq as lastSeq'])
      .where('owner', 'in', servers)
      .execute();
  }

  async #tell(session: string): Promise<void> {
    const summary = await this.log.summary(session).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'not_found') return null;
      throw error;
    });
    this.log.elsewhere.changed(session, summary);
  }
}

const isChanged = (before: SessionMark, now: SessionMark): boolean =>
  before.lastSeq !== now.lastSeq || before.term !== now.term || before.owner !== now.owner;
