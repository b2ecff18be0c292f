import { chainStart } from '@belay/proof';
import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type { OnLead } from '../storage/on-lead.js';
import { noSuchSession } from '../access/caller.js';
import type { ChainPlace } from './chained-rows.js';
import { EventLog } from './event-log.js';
import { SessionsStore } from './sessions.store.js';

/** The last event of a log, with the digest of all. */
export interface LogHead extends ChainPlace {
  session: string;
  /** When the session was created, with which its chain begins. */
  created: string;
  /** The first event that was chained when it was stored. */
  chainedFrom: number;
}

/** The heads of all logs. Logs that an earlier version wrote are chained one after another while the server works. */
@Injectable()
export class LogHeads implements OnLead, OnModuleDestroy {
  readonly #logger = new Logger(LogHeads.name);
  readonly #closing = new AbortController();
  #all: Promise<void> | undefined;

  constructor(
    private readonly log: EventLog,
    private readonly store: SessionsStore,
  ) {}

  onLead(): void {
    this.#all = this.#chainAll().catch((error: unknown) => this.#logger.error(error));
  }

  async onModuleDestroy(): Promise<void> {
    this.#closing.abort();
    await this.#all;
  }

  /** The end of a log, chained if it was not. Others append meanwhile: each part is a transaction of its own. */
  async head(session: string): Promise<LogHead> {
    for (;;) {
      const record = await this.store.find(session);
      if (!record) throw noSuchSession(session);
      const { created, lastSeq: seq, head, chainedFrom } = record;
      if (head !== null && chainedFrom !== null)
        return { session, created, seq, head, chainedFrom };
      let place: ChainPlace | null = { seq: 0, head: chainStart(session, created) };
      while (place) {
        this.#closing.signal.throwIfAborted();
        place = await this.log.chainPart(session, place);
      }
    }
  }

  /** What fails is reported and left for the next start. */
  async #chainAll(): Promise<void> {
    for (const session of await this.store.unchained()) {
      if (this.#closing.signal.aborted) return;
      await this.head(session).catch((error: unknown) => {
        if (!this.#closing.signal.aborted) this.#logger.error({ error, session });
      });
    }
  }
}
