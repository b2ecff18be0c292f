import { Injectable } from '@nestjs/common';
import type { NewSession, SessionSettings, SessionSummary } from '@belay/protocol';
import type { OnLead } from '../storage/on-lead.js';
import { assertMayBegin, type Caller } from '../access/caller.js';
import { assertMayNameHost } from '../access/assert-may-name-host.js';
import { RestrictedSessions } from '../access/restricted-sessions.js';
import { SessionOwners } from '../access/session-owners.js';
import { EventLog } from '../logs/event-log.js';
import { AttachedPictures } from '../logs/attached-pictures.js';

/** The callers who begin sessions: checks their rights, and records who may do what with the sessions. */
@Injectable()
export class SessionBeginners implements OnLead {
  constructor(
    private readonly owners: SessionOwners,
    private readonly pictures: AttachedPictures,
    private readonly restricted: RestrictedSessions,
    private readonly log: EventLog,
  ) {
    // Others have created them.
    log.onTaken((taken) => this.#restrict(taken));
    log.claims.prepareBy((taken) => owners.readOf(taken.map(({ id }) => id)));
  }

  /** Before any request is answered. */
  async onLead(): Promise<void> {
    this.#restrict(await this.log.summaries());
  }

  #restrict(sessions: readonly SessionSummary[]): void {
    for (const summary of sessions) this.restricted.add(summary.id, summary);
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
    this.restricted.add(session, settings);
    await this.owners.record(session, caller);
  }
}
