import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { NewSession, SessionAgent, SessionSettings, SessionSummary } from '@belay/protocol';
import { BareSessions } from '../access/bare-sessions.js';
import { assertMayBegin, type Caller } from '../access/caller.js';
import { assertMayNameHost } from '../access/assert-may-name-host.js';
import { SessionOwners } from '../access/session-owners.js';
import { SignedInSessions } from '../access/signed-in-sessions.js';
import { EventLog } from '../logs/event-log.js';
import { AttachedPictures } from '../logs/attached-pictures.js';

interface Agent {
  agent?: SessionAgent | null | undefined;
}

/** The callers who begin sessions: checks their rights, and records who may do what with the sessions. */
@Injectable()
export class SessionBeginners implements OnApplicationBootstrap {
  constructor(
    private readonly owners: SessionOwners,
    private readonly pictures: AttachedPictures,
    private readonly bare: BareSessions,
    private readonly signIns: SignedInSessions,
    private readonly log: EventLog,
  ) {}

  /** Before any request is answered. */
  async onApplicationBootstrap(): Promise<void> {
    for (const { id, ...place } of await this.log.summaries()) this.#note(id, place);
  }

  /** Throws `forbidden`, and `not_found` for a picture that the caller may not attach. */
  async assertMayBegin(
    caller: Caller,
    { images = [], mounts = [] }: Pick<NewSession, 'images' | 'mounts'>,
  ): Promise<void> {
    assertMayBegin(caller);
    if (mounts.length > 0)
      assertMayNameHost(caller, { use: 'share folders of the host', remedy: 'leave out `mounts`' });
    await this.pictures.assertMayAttach(caller, images);
  }

  /** Called before the session exists, so that its owner sees it from its first event on. */
  async record(
    session: string,
    caller: Caller,
    settings: Pick<SessionSettings, 'machine' | 'agent'>,
  ): Promise<void> {
    this.#note(session, settings);
    await this.owners.record(session, caller);
  }

  /** Not everyone who sees such a session may operate it. */
  #note(session: string, { machine, agent }: Pick<SessionSummary, 'machine'> & Agent): void {
    if (machine?.kind === 'bare') this.bare.add(session, machine.name);
    if (agent?.login !== undefined) this.signIns.add(session, agent.login);
  }
}
