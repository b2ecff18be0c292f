import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import type { MadeToken } from '@belay/protocol';
import { z } from 'zod';
import { CallerEnds } from '../../access/caller-ends.js';
import { ownerCaller, viewerCaller, type Caller } from '../../access/caller.js';
import { RestrictedSessions } from '../../access/restricted-sessions.js';
import { TokensStore } from '../../access/tokens.store.js';
import { UsersStore } from '../../access/users.store.js';
import { Config } from '../../config.js';
import { storageError } from '../../storage/database.js';
import { writeWholeSync } from '../../storage/write-whole.js';
import { loginCookies } from './cookies.js';
import { Logins } from './logins.js';

const saved = z.object({ token: z.string().min(20), viewerToken: z.string().min(20) });
type Saved = z.output<typeof saved>;

/**
 * Identifies callers. The server’s own two tokens are made at the first start, in a file that only its user can read;
 * all other tokens are in the database.
 */
@Injectable()
export class Identity {
  #tokens: Saved;
  #announced: { url?: string; pid?: number } = {};
  readonly #file: string;

  constructor(
    config: Config,
    private readonly logins: Logins,
    private readonly tokens: TokensStore,
    private readonly users: UsersStore,
    private readonly restricted: RestrictedSessions,
    private readonly ends: CallerEnds,
  ) {
    this.#file = join(config.data, 'server.json');
    const known = readSaved(this.#file);
    this.#tokens = known ?? { token: newToken(), viewerToken: newToken() };
    this.#save(this.#tokens);
  }

  /** Writes the address at which the command line finds the server. */
  announce(url: string): void {
    this.#announced = { url, pid: process.pid };
    this.#save(this.#tokens);
  }

  get token(): string {
    return this.#tokens.token;
  }

  get viewerToken(): string {
    return this.#tokens.viewerToken;
  }

  /**
   * Gives the server’s own token with this id another secret; the old one is invalid at once, and ends connections,
   * logins and links with it. Undefined for other ids. Throws `disk_full`; the old one stays valid if the new one could
   * not be stored.
   */
  async rotate(id: string): Promise<MadeToken | undefined> {
    const caller = ownCallers.find((each) => each.id === id);
    if (!caller) return undefined;
    const token = newToken();
    const changed = { ...this.#tokens, [caller === ownerCaller ? 'token' : 'viewerToken']: token };
    try {
      this.#save(changed);
    } catch (error) {
      throw storageError(error);
    }
    this.#tokens = changed;
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

  /** The caller by a token, or by a login’s key together with its cookie: a cookie alone gives no access. */
  caller({ authorization, cookie }: IncomingHttpHeaders): Caller | undefined {
    const bearer = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
    if (bearer === undefined) return undefined;
    return this.callerOfToken(bearer) ?? this.callerOfLogin(bearer, cookie);
  }

  /** The caller of a login, with its current rights. */
  callerOfLogin(key: string, cookie: string | undefined): Caller | undefined {
    const login = this.logins.find(key, loginCookies(cookie));
    const caller = login && this.callerById(login.caller);
    return caller && { ...caller, login: login.id };
  }

  /** Undefined when the caller no longer exists. */
  callerById(id: string): Caller | undefined {
    const own = ownCallers.find((each) => each.id === id);
    return this.#withRestricted(own ?? this.tokens.caller(id) ?? this.users.caller(id));
  }

  #withRestricted(caller: Caller | undefined): Caller | undefined {
    return caller && { ...caller, restricted: this.restricted };
  }

  /** Whether the request has a login’s cookie, which is enough for the site’s files and for nothing else. */
  hasLogin({ cookie }: IncomingHttpHeaders): boolean {
    return this.logins.hasCookie(loginCookies(cookie));
  }

  #save(tokens: Saved): void {
    const content = { ...this.#announced, ...tokens };
    writeWholeSync(this.#file, `${JSON.stringify(content, null, 2)}\n`);
  }
}

const ownCallers = [ownerCaller, viewerCaller];

const newToken = (): string => randomBytes(24).toString('base64url');

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

function readSaved(file: string): Saved | undefined {
  try {
    return saved.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    // The file is missing, or was truncated by a full disk: new tokens are created.
    return undefined;
  }
}
