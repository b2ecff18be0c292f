import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { EventLog } from '../logs/event-log.js';
import { SessionsStore } from '../logs/sessions.store.js';
import { LiveServers, type LiveServer } from '../storage/live-servers.js';
import { serverId } from '../server-id.js';

/** How long a request waits until this server has taken a session that was handed over to it, in milliseconds. */
const takeMs = 20_000;
const lookAgainMs = 50;

/** Which of the servers of a database works on a session. */
@Injectable()
export class SessionServers {
  constructor(
    private readonly log: EventLog,
    private readonly store: SessionsStore,
    private readonly servers: LiveServers,
  ) {}

  /**
   * The other server that a session’s requests and connections are passed on to; undefined for a session of this one, of
   * nobody, or that does not exist. Throws `unavailable` while the server that had it has ended, and none has taken it.
   */
  async other(session: string): Promise<LiveServer | undefined> {
    if (!this.servers.isShared || this.log.isOwned(session)) return undefined;
    const owner = await this.store.ownerOf(session);
    if (owner === null || owner === undefined) return undefined;
    const found = (await this.servers.others()).find(({ id }) => id === owner);
    if (found) return found;
    // It was taken meanwhile.
    if (this.log.isOwned(session)) return undefined;
    throw new AppError(
      'unavailable',
      'The server of this session has ended, and another one takes it: try again in a few seconds.',
    );
  }

  /**
   * Resolves when this server works on a session, which it may be about to take. Throws `unavailable` when it does not:
   * whoever passed on a request about it looks again.
   */
  async assertOwn(session: string): Promise<void> {
    const end = performance.now() + takeMs;
    while (!this.log.isOwned(session)) {
      const isHanded = (await this.store.ownerOf(session)) === serverId;
      if (!isHanded || performance.now() > end) throw notHere();
      await delay(lookAgainMs);
    }
  }
}

const notHere = (): AppError =>
  new AppError('unavailable', 'This server does not work on the session: try again.');
