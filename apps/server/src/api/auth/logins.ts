import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { Caller } from '../../access/caller.js';
import { CallerEnds } from '../../access/caller-ends.js';
import { Config } from '../../config.js';
import { mostCrowded } from '../../storage/most-crowded.js';
import { OneTimeValues } from '../../storage/one-time-values.js';
import { hashOfSecret, randomSecret } from '../../storage/secrets.js';
import { writeWholeSync } from '../../storage/write-whole.js';

/** Contains only hashes, so the file is useless for logging in. */
const savedLogin = z.object({
  cookie: z.string(),
  keys: z.array(z.string()),
  /** The id of the caller; its rights are looked up at each request. */
  caller: z.string(),
  expires: z.number(),
});
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
  readonly #file: string;
  /** One-time codes, with the ids of their callers. */
  readonly #codes = new OneTimeValues<string>(dayMs);
  #logins: Login[];

  constructor(
    config: Config,
    private readonly ends: CallerEnds,
  ) {
    this.#file = join(config.data, 'logins.json');
    this.#logins = readSaved(this.#file);
    ends.onLogout((caller) => this.#endOf(caller));
  }

  /** In a browser that is already logged in, it adds a key, so that other tabs stay logged in. */
  create({ id: caller }: Pick<Caller, 'id'>, cookies: readonly string[]): NewLogin {
    const known = this.#withCookie(cookies).find((login) => login.caller === caller);
    const cookie = cookies.find((each) => hashOfSecret(each) === known?.cookie) ?? randomSecret();
    const key = randomSecret();
    const keys = [...(known?.keys ?? []), hashOfSecret(key)].slice(-maxKeys);
    const login = { cookie: hashOfSecret(cookie), keys, caller, expires: Date.now() + loginMs };
    const others = this.#current().filter((each) => each !== known);
    const all = [...others, login];
    const ended = all.length > maxLogins ? mostCrowded(all, (each) => each.caller) : undefined;
    this.#logins = all.filter((each) => each !== ended);
    this.#save();
    if (ended) this.ends.endLogin(ended.cookie);
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

  /** Ends all logins and invalidates unused codes. */
  endAll(): void {
    const ended = this.#logins;
    this.#logins = [];
    this.#codes.clear();
    this.#save();
    for (const { cookie } of ended) this.ends.endLogin(cookie);
  }

  /** A code for one login. It may be part of an address, where others can see it. */
  newCode({ id: caller }: Pick<Caller, 'id'>, lifeMs: number): string {
    return this.#codes.put(caller, caller, { lifeMs });
  }

  /** The id of the caller for whom the code was made. */
  takeCode(code: string): string | undefined {
    return this.#codes.take(code);
  }

  /** Ends a caller’s logins, and invalidates its codes. */
  #endOf(caller: string): void {
    this.#codes.clear((of) => of === caller);
    const others = this.#logins.filter((login) => login.caller !== caller);
    if (others.length === this.#logins.length) return;
    this.#logins = others;
    this.#save();
  }

  #withCookie(cookies: readonly string[]): Login[] {
    const hashed = cookies.map((cookie) => hashOfSecret(cookie));
    return this.#current().filter(({ cookie }) => hashed.includes(cookie));
  }

  #current(): Login[] {
    const now = Date.now();
    return this.#logins.filter(({ expires }) => expires > now);
  }

  #save(): void {
    writeWholeSync(this.#file, `${JSON.stringify(this.#logins)}\n`);
  }
}

function readSaved(file: string): Login[] {
  try {
    return z.array(savedLogin).safeParse(JSON.parse(readFileSync(file, 'utf8'))).data ?? [];
  } catch {
    // The file is missing, or was truncated by a full disk: browsers log in again.
    return [];
  }
}
