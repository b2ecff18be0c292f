import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { Caller } from '../../access/caller.js';
import { CallerEnds } from '../../access/caller-ends.js';
import type { Document } from '../../storage/document.js';
import { Documents } from '../../storage/documents.js';
import { mostCrowded } from '../../storage/most-crowded.js';
import { ExpiringValues } from '../../storage/expiring-values.js';
import { OneTimeCodes } from '../../storage/one-time-codes.js';
import { hashOfSecret, randomSecret } from '../../storage/secrets.js';

/** Contains only hashes, so it is useless for logging in. */
const savedLogin = z.object({
  cookie: z.string(),
  keys: z.array(z.string()),
  /** The id of the caller; its rights are looked up at each request. */
  caller: z.string(),
  expires: z.number(),
});
const savedLogins = z.array(savedLogin);
type Login = z.infer<typeof savedLogin>;

export interface NewLogin {
  cookie: string;
  key: string;
  maxAgeMs: number;
}

const dayMs = 24 * 3600 * 1000;
const loginMs = 30 * dayMs;
/** Beyond this limit, a new login ends the oldest of the caller with the most. */
const maxLogins = 200;
const maxKeys = 20;

/**
 * The logins of browsers. Each has two secrets: a cookie, which a browser sends to every port of this machine, and a
 * key, which the page keeps for its own origin. Both are needed, and neither is the token.
 */
@Injectable()
export class Logins {
  readonly #document: Document<typeof savedLogins>;
  /** One-time codes, with the ids of their callers. */
  readonly #codes: OneTimeCodes<string>;
  /** The cookies of logins that have ended, until that is stored: they are void at once, and if it cannot be stored. */
  readonly #ended = new Set<string>();

  constructor(
    documents: Documents,
    values: ExpiringValues,
    private readonly ends: CallerEnds,
  ) {
    this.#document = documents.open('logins', savedLogins, []);
    this.#codes = new OneTimeCodes(values, 'login-code', z.string());
    ends.onLogout((caller) => this.#endOf(caller));
    this.#document.onRead((before) => {
      const now = new Set(this.#document.value.map(({ cookie }) => cookie));
      for (const { cookie } of before) if (!now.has(cookie)) this.ends.endLogin(cookie);
    });
  }

  /**
   * In a browser that is already logged in, it adds a key, so that other tabs stay logged in. Throws when the login cannot
   * be stored; then there is none.
   */
  async create({ id: caller }: Pick<Caller, 'id'>, cookies: readonly string[]): Promise<NewLogin> {
    const [key, another] = [randomSecret(), randomSecret()];
    let cookie = another;
    let displaced: Login | undefined;
    await this.#document.change((before) => {
      const current = before.filter((login) => this.#isCurrent(login));
      const known = withCookie(current, cookies).find((login) => login.caller === caller);
      cookie = cookies.find((each) => hashOfSecret(each) === known?.cookie) ?? another;
      const keys = [...(known?.keys ?? []), hashOfSecret(key)].slice(-maxKeys);
      const login = { cookie: hashOfSecret(cookie), keys, caller, expires: Date.now() + loginMs };
      const all = [...current.filter((each) => each !== known), login];
      displaced = all.length > maxLogins ? mostCrowded(all, (each) => each.caller) : undefined;
      return all.filter((each) => each !== displaced);
    });
    if (displaced) this.ends.endLogin(displaced.cookie);
    return { cookie, key, maxAgeMs: loginMs };
  }

  /** Whether one of the cookies belongs to a login, which is enough for the site’s files, but not for sessions. */
  hasCookie(cookies: readonly string[]): boolean {
    return this.#withCookie(cookies).length > 0;
  }

  /** The login with this key and one of these cookies, its two secrets; `id` is not secret. */
  find(key: string, cookies: readonly string[]): { id: string; caller: string } | undefined {
    const hashed = hashOfSecret(key);
    const login = this.#withCookie(cookies).find(({ keys }) => keys.includes(hashed));
    return login && { id: login.cookie, caller: login.caller };
  }

  /** Whether there is a login with this id. */
  has(id: string): boolean {
    return this.#document.value.some((login) => login.cookie === id && this.#isCurrent(login));
  }

  /** Ends all logins and invalidates unused codes. They are void even if it throws because that cannot be stored. */
  async endAll(): Promise<void> {
    await this.#endBoth(undefined, () => true);
  }

  /** A code for one login. It may be part of an address, where others can see it. */
  newCode({ id: caller }: Pick<Caller, 'id'>, lifeMs: number): Promise<string> {
    return this.#codes.put(caller, caller, lifeMs);
  }

  /** The id of the caller for whom the code was made. */
  takeCode(code: string): Promise<string | undefined> {
    return this.#codes.take(code);
  }

  /** Ends a caller’s logins, and invalidates its codes. */
  async #endOf(caller: string): Promise<void> {
    await this.#endBoth(caller, (login) => login.caller === caller);
  }

  async #endBoth(owner: string | undefined, isEnding: (login: Login) => boolean): Promise<void> {
    const codes = this.#codes.clear(owner);
    const [failed] = await Promise.allSettled([codes, this.#end(isEnding)]).then((results) =>
      results.filter((result) => result.status === 'rejected'),
    );
    if (failed) throw failed.reason;
  }

  async #end(isEnding: (login: Login) => boolean): Promise<void> {
    const ending = new Set<string>();
    const endAtOnce = (): void => {
      for (const { cookie } of this.#document.value.filter(isEnding)) {
        ending.add(cookie);
        this.#ended.add(cookie);
        this.ends.endLogin(cookie);
      }
    };
    endAtOnce();
    // Also those that another server has just stored.
    await this.#document.refresh();
    endAtOnce();
    if (ending.size === 0) return;
    await this.#document.change((before) => before.filter((login) => !isEnding(login)));
    for (const cookie of ending) this.#ended.delete(cookie);
  }

  #withCookie(cookies: readonly string[]): Login[] {
    return withCookie(this.#document.value, cookies).filter((login) => this.#isCurrent(login));
  }

  #isCurrent({ cookie, expires }: Login): boolean {
    return expires > Date.now() && !this.#ended.has(cookie);
  }
}

function withCookie(logins: readonly Login[], cookies: readonly string[]): Login[] {
  const hashed = cookies.map((cookie) => hashOfSecret(cookie));
  return logins.filter(({ cookie }) => hashed.includes(cookie));
}
