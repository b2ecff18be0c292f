import { randomBytes } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  AppError,
  ignoreError,
  sessionAccess,
  tokenPrefix,
  tokenSandbox,
  type MadeToken,
  type NewToken,
  type SessionAccess,
  type TokenInfo,
  type TokenSandbox,
} from '@belay/protocol';
import { Mutex } from 'async-mutex';
import type { Selectable } from 'kysely';
import { Database, notStored } from '../storage/database.js';
import { hashOfSecret, randomSecret } from '../storage/secrets.js';
import type { AccessTokenTable } from '../storage/database-schema.js';
import type { Caller, SessionSet } from './caller.js';
import { CallerEnds } from './caller-ends.js';
import {
  nextRefresh,
  noRefresh,
  readRefresh,
  type RefreshGrant,
  type RefreshableToken,
} from './refresh-token.js';
import { SessionOwners } from './session-owners.js';

const maxTokens = 10_000;
/** The interval at which the last use of a token is stored; it is tracked in memory. */
const lastUsedMs = 60_000;

type Row = Selectable<AccessTokenTable>;

/** A viewer link, without its secret. */
export interface LinkInfo {
  id: string;
  label: string;
  created: string;
  expires: string;
  lastUsed: string | null;
  session: string;
  /** The id of the caller that made it. */
  maker: string;
}

type LinkColumns = Pick<Row, 'link_session' | 'link_maker'>;

/** Tokens made in addition to the server’s two. The database has only their hashes. */
@Injectable()
export class TokensStore implements OnModuleInit {
  /** All tokens, by hash; a database has only one server. */
  readonly #rows = new Map<string, Row>();
  /** Serializes rotations: of two concurrent ones, the second replaces the secret made by the first. */
  readonly #rotation = new Mutex();

  constructor(
    private readonly database: Database,
    private readonly owners: SessionOwners,
    private readonly ends: CallerEnds,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.database.migrated();
    const rows = await this.database.kysely.selectFrom('access_token').selectAll().execute();
    for (const row of rows) this.#rows.set(row.hash, row);
  }

  /** Newest first. */
  list(): TokenInfo[] {
    return [...this.#rows.values()]
      .sort((a, b) => (a.created < b.created ? 1 : -1))
      .map((row) => infoOf(row));
  }

  /** A token that ends with the access of its maker. */
  create(wanted: NewToken, maker: Pick<Caller, 'id'>): Promise<MadeToken> {
    const made = { link_session: null, link_maker: maker.id };
    return this.#create(wanted, { id: newId(), ...noRefresh, ...made });
  }

  /** A token of the scope `view` for a single session. */
  createLink(
    { label, expires }: Pick<NewToken, 'label'> & { expires: string },
    { session, maker }: Pick<LinkInfo, 'session' | 'maker'>,
  ): Promise<MadeToken> {
    const wanted: NewToken = { label, expires, scope: 'view', sessions: [session] };
    const link = { link_session: session, link_maker: maker };
    return this.#create(wanted, { id: newId(), ...noRefresh, ...link });
  }

  /** All viewer links, newest first; also those that have expired. */
  links(): LinkInfo[] {
    return [...this.#rows.values()]
      .flatMap((row) => linkOf(row) ?? [])
      .sort((a, b) => (a.created < b.created ? 1 : -1));
  }

  /** A token for an application, which renews it by itself, until the access of the user who allowed it ends. */
  async createRefreshable(
    wanted: NewToken,
    { maker, ...lent }: RefreshGrant & { maker: string },
  ): Promise<RefreshableToken> {
    const id = newId();
    const { refresh, columns } = nextRefresh({ id }, lent);
    const made = { link_session: null, link_maker: maker };
    return { ...(await this.#create(wanted, { id, ...columns, ...made })), refresh };
  }

  async #create(
    { label, scope, sessions, expires, sandbox }: NewToken,
    more: Pick<Row, 'id'> & typeof noRefresh & LinkColumns,
  ): Promise<MadeToken> {
    if (this.#rows.size >= maxTokens) {
      throw new AppError('limit_reached', `There are ${maxTokens} tokens. Revoke some first.`);
    }
    const token = newToken();
    const row: Row = {
      ...more,
      label,
      hash: hashOfSecret(token),
      scope,
      sessions: JSON.stringify(sessions),
      created: new Date().toISOString(),
      expires: expires && new Date(expires).toISOString(),
      last_used: null,
      sandbox: sandbox ? JSON.stringify(sandbox) : null,
    };
    await this.database.kysely.insertInto('access_token').values(row).execute().catch(notStored);
    this.#rows.set(row.hash, row);
    return { ...infoOf(row), token };
  }

  /** Gives the token another secret. The old one is invalid at once, also on open connections. */
  rotate(id: string): Promise<MadeToken> {
    // An application with the old token cannot renew it either.
    return this.#rotation.runExclusive(() => this.#renew(this.#row(id), noRefresh));
  }

  /**
   * Renews an application’s token, like `rotate`; undefined when that is not allowed. Each refresh token is valid
   * once. A second use means that it was stolen, so all tokens of its family are revoked.
   */
  refresh(given: string, { expires, ...lent }: RefreshGrant & { expires: string }) {
    return this.#rotation.runExclusive(async (): Promise<RefreshableToken | undefined> => {
      const read = readRefresh(given);
      const row = read && this.#find(read.id);
      if (!row || row.refresh_family !== hashOfSecret(read.family)) return undefined;
      if (row.refresh_hash !== hashOfSecret(read.secret)) {
        await this.revoke(row.id);
        return undefined;
      }
      const isOver = Date.parse(row.refresh_expires ?? '') <= Date.now();
      if (row.client !== lent.client || isOver) return undefined;
      const { refresh, columns } = nextRefresh(read, lent);
      return { ...(await this.#renew(row, { ...columns, expires })), refresh };
    });
  }

  async #renew(row: Row, more: Partial<Row>): Promise<MadeToken> {
    const { id } = row;
    const token = newToken();
    const change = { ...more, hash: hashOfSecret(token) };
    await this.database.kysely
      .updateTable('access_token')
      .set(change)
      .where('id', '=', id)
      .execute()
      .catch(notStored);
    // It may have been revoked meanwhile.
    if (!this.#rows.delete(row.hash)) throw noToken(id);
    const changed = { ...row, ...change };
    this.#rows.set(changed.hash, changed);
    this.ends.end(callerId(id));
    return { ...infoOf(changed), token };
  }

  /** The token is invalid at once, also on open connections, and so are the tokens that it made. */
  async revoke(id: string): Promise<void> {
    await this.#revokeAll(this.#family(this.#row(id)));
  }

  /** Revokes the tokens that a caller made, who has no access any more. */
  async revokeMadeBy(maker: string): Promise<void> {
    await this.#revokeAll(this.#madeBy(maker));
  }

  async #revokeAll(rows: readonly Row[]): Promise<void> {
    // Invalid in this server even if the disk is full.
    for (const { id, hash } of rows) {
      this.#rows.delete(hash);
      this.ends.end(callerId(id));
    }
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    await this.database.kysely
      .deleteFrom('access_token')
      .where('id', 'in', ids)
      .execute()
      .catch(notStored);
  }

  /** A token, and all that it made, directly or through these. */
  #family(row: Row): Row[] {
    return [row, ...this.#madeBy(callerId(row.id))];
  }

  #madeBy(maker: string): Row[] {
    const made = [...this.#rows.values()].filter(
      ({ link_session: session, link_maker: by }) => session === null && by === maker,
    );
    return made.flatMap((row) => this.#family(row));
  }

  /** The time when a token ends; null for never. Throws `not_found`. */
  expiresOf(id: string): string | null {
    return this.#row(id).expires;
  }

  /** The caller of a token; undefined when it is unknown or has expired. */
  callerOf(token: string): Caller | undefined {
    if (!token.startsWith(tokenPrefix)) return undefined;
    const row = this.#rows.get(hashOfSecret(token));
    if (!row || isOver(row)) return undefined;
    this.#used(row);
    return this.#caller(row);
  }

  /** The token with a caller’s id, if it is still valid. */
  caller(id: string): Caller | undefined {
    const row = [...this.#rows.values()].find((each) => callerId(each.id) === id);
    return row && !isOver(row) ? this.#caller(row) : undefined;
  }

  /** The id of a token, or of the token that a refresh token renews; undefined for anything else. */
  idOf(secret: string): string | undefined {
    const read = readRefresh(secret);
    if (!read) return this.#rows.get(hashOfSecret(secret))?.id;
    const row = this.#find(read.id);
    return row?.refresh_hash === hashOfSecret(read.secret) ? row.id : undefined;
  }

  #caller(row: Row): Caller {
    const sessions = accessOf(row);
    const id = callerId(row.id);
    return {
      id,
      label: row.label,
      scope: row.scope,
      sessions: sessions === 'all' ? 'all' : this.#set(id, sessions),
      begins: !Array.isArray(sessions),
      expires: row.expires === null ? null : Date.parse(row.expires),
      ...sandboxOf(row),
    };
  }

  #set(caller: string, sessions: 'own' | readonly string[]): SessionSet {
    if (sessions === 'own') return this.owners.of(caller);
    return { has: (session) => sessions.some((pattern) => matches(pattern, session)) };
  }

  #find(id: string): Row | undefined {
    return [...this.#rows.values()].find((each) => each.id === id);
  }

  #row(id: string): Row {
    const row = this.#find(id);
    if (!row) throw noToken(id);
    return row;
  }

  #used(row: Row): void {
    const now = new Date();
    const before = row.last_used === null ? 0 : Date.parse(row.last_used);
    if (now.getTime() - before < lastUsedMs) return;
    row.last_used = now.toISOString();
    void this.database.kysely
      .updateTable('access_token')
      .set({ last_used: row.last_used })
      .where('id', '=', row.id)
      .execute()
      .catch(ignoreError('the time of the last use is not worth a failed request'));
  }
}

const newId = (): string => randomBytes(6).toString('hex');

const callerId = (id: string): string => `token:${id}`;

const noToken = (id: string): AppError =>
  new AppError('not_found', `There is no token ${id}. List them: belay tokens`);

const matches = (pattern: string, session: string): boolean =>
  pattern.endsWith('*') ? session.startsWith(pattern.slice(0, -1)) : session === pattern;

const isOver = ({ expires }: Row): boolean => expires !== null && Date.parse(expires) <= Date.now();

const newToken = (): string => tokenPrefix + randomSecret();

function linkOf(row: Row): LinkInfo | undefined {
  const { link_session: session, link_maker: maker, expires } = row;
  if (session === null || maker === null || expires === null) return undefined;
  const { id, label, created, last_used: lastUsed } = row;
  return { id, label, created, expires, lastUsed, session, maker };
}

function infoOf(row: Row): TokenInfo {
  const { id, label, scope, created, expires, last_used: lastUsed } = row;
  const sessions = accessOf(row);
  return { id, label, scope, sessions, created, expires, ...sandboxOf(row), lastUsed };
}

function sandboxOf({ sandbox }: Row): { sandbox?: TokenSandbox } {
  return sandbox === null ? {} : { sandbox: tokenSandbox.parse(JSON.parse(sandbox)) };
}

/** An unreadable row gives no access. */
function accessOf({ sessions }: Row): SessionAccess {
  try {
    return sessionAccess.catch('own').parse(JSON.parse(sessions));
  } catch {
    return 'own';
  }
}
