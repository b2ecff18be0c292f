import { Injectable } from '@nestjs/common';
import {
  AppError,
  ignoreError,
  type MadeViewerLink,
  type NewViewerLink,
  type ViewerLink,
} from '@belay/protocol';
import { assertWithinOwnTime } from './assert-within-own-time.js';
import type { Caller } from './caller.js';
import type { LinkInfo } from './token-row.js';
import { TokensStore } from './tokens.store.js';

const maxLinks = 50;

/**
 * Links to one session for people without an account. Each is a stored token of the scope `view` for that session
 * alone, and ends when its maker may not make it any more.
 */
@Injectable()
export class ViewerLinks {
  constructor(private readonly tokens: TokensStore) {}

  /** Newest first. */
  list(session: string): ViewerLink[] {
    return this.#of(session).map((each) => {
      const { session: _, ...link } = each;
      return link;
    });
  }

  /** Throws `invalid_input` for a link that would outlive its maker’s access, `limit_reached` for too many links. */
  async create(session: string, wanted: NewViewerLink, maker: Caller): Promise<MadeViewerLink> {
    const { label, expires } = wanted;
    assertWithinOwnTime(maker, expires);
    if (this.#of(session).length >= maxLinks)
      throw new AppError('limit_reached', `The session has ${maxLinks} links. Revoke one first.`);
    const made = await this.tokens.createLink({ label, expires }, { session, maker: maker.id });
    const { id, created, token } = made;
    const path = `/sessions/${session}?token=${token}`;
    return { id, label, created, lastUsed: null, expires: made.expires ?? expires, token, path };
  }

  /** The link is invalid at once, also on open connections. Throws `not_found` if this session has no such link. */
  async revoke(session: string, id: string): Promise<void> {
    if (!this.#of(session).some((link) => link.id === id))
      throw new AppError('not_found', 'The session has no such link: it was already revoked.');
    await this.tokens.revoke(id);
  }

  /** Revokes the links of a deleted session. */
  endOf(session: string): void {
    for (const link of this.tokens.links().filter((each) => each.session === session)) {
      void this.tokens
        .revoke(link.id)
        .catch(ignoreError('it is void in this server, and its session is gone'));
    }
  }

  #of(session: string): LinkInfo[] {
    const now = Date.now();
    return this.tokens
      .links()
      .filter((link) => link.session === session && Date.parse(link.expires) > now);
  }
}
