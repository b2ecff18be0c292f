import { Injectable } from '@nestjs/common';
import type { NewSession } from '@belay/protocol';
import { assertMayBegin, type Caller } from '../access/caller.js';
import { assertMayNameHost } from '../access/host-names.js';
import { SessionOwners } from '../access/session-owners.js';
import { AttachedPictures } from '../logs/attached-pictures.js';

/** The callers who begin sessions: checks their rights, and records them as owners. */
@Injectable()
export class SessionBeginners {
  constructor(
    private readonly owners: SessionOwners,
    private readonly pictures: AttachedPictures,
  ) {}

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
  record(session: string, caller: Caller): Promise<void> {
    return this.owners.record(session, caller);
  }
}
