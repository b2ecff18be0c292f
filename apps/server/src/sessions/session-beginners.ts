import { Injectable } from '@nestjs/common';
import { AppError, type NewSession } from '@belay/protocol';
import { assertMayBegin, may, type Caller } from '../access/caller.js';
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
    if (mounts.length > 0 && !this.mayShareFolders(caller))
      throw new AppError(
        'forbidden',
        'Only an admin may share folders of the host: leave out `mounts`, or use the server’s main token.',
      );
    await this.pictures.assertMayAttach(caller, images);
  }

  mayShareFolders(caller: Caller): boolean {
    return may(caller, 'admin');
  }

  /** Called before the session exists, so that its owner sees it from its first event on. */
  record(session: string, caller: Caller): Promise<void> {
    return this.owners.record(session, caller);
  }
}
