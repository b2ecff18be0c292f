import { Injectable } from '@nestjs/common';
import { errorFrom } from '@belay/protocol';
import { Config } from '../../config.js';
import { EventLog } from '../../logs/event-log.js';
import { SessionsStore } from '../../logs/sessions.store.js';
import { lease } from '../../storage/lease.js';
import { LiveServers, type LiveServer } from '../../storage/live-servers.js';
import { serverId } from '../../server-id.js';
import type { SandboxRecord } from './sandbox-records.store.js';

/** Whose the sessions, and what servers made on this one’s engine, are at one time. */
export interface OwnersNow {
  /** Whether this server decides about the session’s sandboxes: as its owner, or as the lead about those of nobody. */
  isOurs(session: string): boolean;
  /** The other server that owns the session, if that is alive. */
  other(session: string): LiveServer | undefined;
  /** Whether there is such a session. */
  exists(session: string): Promise<boolean> | boolean;
  /** Whether another server has this id that is alive. */
  isAlive(server: string | undefined): boolean;
  /** Whether this server removes what others left on its engine that are no longer alive. */
  tidies: boolean;
}

/** Which server decides about a session’s sandboxes: its owner; a session of nobody is for the one that leads. */
@Injectable()
export class SandboxOwners {
  constructor(
    private readonly config: Config,
    private readonly log: EventLog,
    private readonly store: SessionsStore,
    private readonly servers: LiveServers,
  ) {}

  /**
   * To be asked after the containers, files and records were listed that it is about: a session has its owner, and a
   * server is known, before there is anything of them.
   */
  async look(): Promise<OwnersNow> {
    if (!this.servers.isShared)
      return { ...alone, exists: async (session) => (await this.epoch(session)) !== undefined };
    const owners = await this.store.ownersOf();
    const others = await this.servers.others();
    const alive = new Map(others.map((one) => [one.id, one]));
    const isOwned = (session: string): boolean => this.log.isOwned(session);
    return {
      isOurs: (session) => isOwned(session) || (lease.isHeld && !owners.get(session)),
      other: (session) => (isOwned(session) ? undefined : alive.get(owners.get(session) ?? '')),
      exists: (session) => owners.has(session),
      isAlive: (server = '') => alive.has(server),
      tidies: this.#tidies(others),
    };
  }

  /** Whether the server’s containers are on another engine than this one’s, so that it cannot use those here. */
  isElsewhere({ instance }: LiveServer): boolean {
    return instance !== null && instance !== this.config.instance;
  }

  /** Undefined for a session that does not exist. */
  async epoch(session: string): Promise<number | undefined> {
    try {
      return await this.log.epoch(session);
    } catch (error) {
      if (errorFrom(error).code === 'not_found') return undefined;
      throw error;
    }
  }

  /** Whether it is of the session’s newest agent. */
  async isCurrent({ session, begun, epoch }: SandboxRecord): Promise<boolean> {
    return begun && (await this.epoch(session)) === epoch;
  }

  /** One of those that share an engine does: the one that leads, or else the first by its id. */
  #tidies(others: readonly LiveServer[]): boolean {
    const beside = others.filter((one) => !this.isElsewhere(one));
    return lease.isHeld || beside.every(({ id, leads }) => !leads && id > serverId);
  }
}

const alone: Omit<OwnersNow, 'exists'> = {
  isOurs: () => true,
  other: () => undefined,
  isAlive: () => false,
  tidies: true,
};
