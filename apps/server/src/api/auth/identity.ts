import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { MadeToken } from '@belay/protocol';
import { CallerEnds } from '../../access/caller-ends.js';
import { ownerCaller, viewerCaller, type Caller } from '../../access/caller.js';
import { RestrictedSessions } from '../../access/restricted-sessions.js';
import { TokensStore } from '../../access/tokens.store.js';
import { UsersStore } from '../../access/users.store.js';
import { introducedCaller } from '../../peers/introduced-caller.js';
import { loginCookies } from './cookies.js';
import { Logins } from './logins.js';
import { newOwnToken, OwnTokens } from './own-tokens.js';

/** What a caller is known by. */
export type CallingRequest = Pick<IncomingMessage, 'socket'> & {
  headers: Pick<IncomingHttpHeaders, 'authorization' | 'cookie'>;
};

/** Identifies callers: by the server’s own two tokens, by those that were made in addition, and by logins. */
@Injectable()
export class Identity {
  constructor(
    private readonly own: OwnTokens,
    private readonly logins: Logins,
    private readonly tokens: TokensStore,
    private readonly users: UsersStore,
    private readonly restricted: RestrictedSessions,
    private readonly ends: CallerEnds,
  ) {
    own.onRead((before) => {
      for (const caller of ownCallers)
        if (before[nameOf(caller)] !== own.value[nameOf(caller)]) ends.end(caller.id);
    });
  }

  get token(): string {
    return this.own.value.token;
  }

  get viewerToken(): string {
    return this.own.value.viewerToken;
  }

  /**
   * Gives the server’s own token with this id another secret; the old one is invalid at once, and ends connections,
   * logins and links with it. Undefined for other ids. Throws `disk_full`; the old one stays valid if the new one could
   * not be stored.
   */
  async rotate(id: string): Promise<MadeToken | undefined> {
    const caller = ownCallers.find((each) => each.id === id);
    if (!caller) return undefined;
    const token = newOwnToken();
    await this.own.change({ [nameOf(caller)]: token });
    await this.ends.endSecret(caller.id);
    const { label, scope } = caller;
    const created = new Date().toISOString();
    return { id, label, scope, sessions: 'all', created, expires: null, lastUsed: null, token };
  }

  /** Whether this is the id of one of the server’s own two tokens, which never expire. */
  isOwnToken(id: string): boolean {
    return ownCallers.some((each) => each.id === id);
  }

  callerOfToken(token: string): Caller | undefined {
    if (same(token, this.token)) return this.#withRestricted(ownerCaller);
    const isViewer = same(token, this.viewerToken);
    return this.#withRestricted(isViewer ? viewerCaller : this.tokens.callerOf(token));
  }

  /**
   * The caller that another server has introduced, whatever the headers say; else the caller by a token, or by a login’s
   * key together with its cookie: a cookie alone gives no access.
   */
  caller({ headers, socket }: CallingRequest): Caller | undefined {
    const introduced = introducedCaller(socket);
    if (introduced) return this.callerById(introduced.id);
    const { authorization, cookie } = headers;
    const bearer = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
    if (bearer === undefined) return undefined;
    return this.callerOfToken(bearer) ?? this.callerOfLogin(bearer, cookie);
  }

  /** The caller of a login, with its current rights. */
  callerOfLogin(key: string, cookie: string | undefined): Caller | undefined {
    const login = this.logins.find(key, loginCookies(cookie));
    return login && this.callerById(login.caller, login.id);
  }

  /** Undefined when the caller, or the login that it used, no longer exists. */
  callerById(id: string, login?: string): Caller | undefined {
    const own = ownCallers.find((each) => each.id === id);
    const caller = this.#withRestricted(own ?? this.tokens.caller(id) ?? this.users.caller(id));
    if (login === undefined) return caller;
    return caller && this.logins.has(login) ? { ...caller, login } : undefined;
  }

  #withRestricted(caller: Caller | undefined): Caller | undefined {
    return caller && { ...caller, restricted: this.restricted };
  }

  /** Whether the request has a login’s cookie, which is enough for the site’s files and for nothing else. */
  hasLogin({ cookie }: IncomingHttpHeaders): boolean {
    return this.logins.hasCookie(loginCookies(cookie));
  }
}

const ownCallers = [ownerCaller, viewerCaller];

const nameOf = (caller: Caller) => (caller === ownerCaller ? 'token' : 'viewerToken');

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
