import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  AppError,
  ignoreError,
  tokenPrefix,
  type MadeToken,
  type NewToken,
  type TokenInfo,
} from '@belay/protocol';
import { Mutex } from 'async-mutex';
import { ColdChanges } from '../storage/cold-changes.js';
import { Database } from '../storage/database.js';
import { hashOfSecret } from '../storage/secrets.js';
import { may, ownerCaller, type Caller, type SessionSet } from './caller.js';
import { CallerEnds } from './caller-ends.js';
import {
  nextRefresh,
  noRefresh,
  readRefresh,
  type RefreshGrant,
  type RefreshableToken,
} from './refresh-token.js';
import { SessionOwners } from './session-owners.js';
import {
  callerId,
  hasLapsed,
  idOfCaller,
  isOver,
  linkInfoOf,
  newTokenId,
  newTokenSecret,
  sandboxOfToken,
  sessionsMatching,
  sessionsOfToken,
  tokenInfoOf,
  type LinkInfo,
  type TokenRow,
} from './token-row.js';
import { madeByIt, mayNotMake, noToken } from './token-refusals.js';
import { TokenRows } from './token-rows.js';
import { TokenTable } from './token-table.js';
import { UsersStore } from './users.store.js';

const maxTokens = 10_000;

type LinkColumns = Pick<TokenRow, 'link_session' | 'link_maker'>;
type Storing = { stored: boolean };

/**
 * Tokens made in addition to the server’s two. The database has only their hashes. Each is valid while its maker, who is
 * the last one to have been shown its secret, may make such a token.
 */
@Injectable()
export class TokensStore implements OnModuleInit {
  readonly #table: TokenTable;
  /** All tokens. Other servers’ changes are taken over as they are made. */
  readonly #rows = new TokenRows();
  /** Tokens that only this server has. */
  readonly #unstored = new Set<string>();
  /** Void in this server, even if that cannot be stored. */
  readonly #revoked = new Set<string>();
  /** Serializes rotations: of two concurrent ones, the second replaces the secret made by the first. */
  readonly #rotation = new Mutex();

  constructor(
    private readonly database: Database,
    private readonly owners: SessionOwners,
    private readonly ends: CallerEnds,
    private readonly users: UsersStore,
    private readonly changes: ColdChanges,
  ) {
    this.#table = new TokenTable(database);
    ends.onLoss(
      () => void this.#revokeAll([]).catch(ignoreError('they are void without their makers')),
    );
    ends.onNewSecret((maker) => this.#revokeLinksOf(maker));
    changes.follow('access_token', (id) => this.#rotation.runExclusive(() => this.#read(id)));
  }

  async onModuleInit(): Promise<void> {
    await this.database.migrated();
    if (!this.changes.hasRead) await this.#read();
  }

  /** Newest first. */
  list(): TokenInfo[] {
    return this.#rows
      .all()
      .sort((a, b) => (a.created < b.created ? 1 : -1))
      .map((row) => tokenInfoOf(row));
  }

  /** The applications that have access, or may still renew it. */
  applications(): ReadonlySet<string> {
    const rows = this.#rows.all().filter((row) => !hasLapsed(row));
    return new Set(rows.flatMap(({ client }) => client ?? []));
  }

  /** Whether a caller may make tokens now; its rights may have changed since a request was admitted. */
  mayMake(maker: string): boolean {
    return this.#isBacked({ link_maker: maker, link_session: null });
  }

  /**
   * Throws `unauthorized` for a maker that may not make tokens any more. A token that is not stored ends with this
   * server at the latest.
   */
  create(wanted: NewToken, { id }: Pick<Caller, 'id'>, options?: Storing): Promise<MadeToken> {
    const made = { link_session: null, link_maker: id };
    return this.#create(wanted, { id: newTokenId(), ...noRefresh, ...made }, options);
  }

  /** A token of the scope `view` for a single session. */
  createLink(
    { label, expires }: Pick<NewToken, 'label'> & { expires: string },
    { session, maker }: { session: string; maker: string },
  ): Promise<MadeToken> {
    const wanted: NewToken = { label, expires, scope: 'view', sessions: [session] };
    const link = { link_session: session, link_maker: maker };
    return this.#create(wanted, { id: newTokenId(), ...noRefresh, ...link });
  }

  /** All viewer links, newest first; also those that have expired. */
  links(): LinkInfo[] {
    return this.#rows
      .all()
      .flatMap((row) => linkInfoOf(row) ?? [])
      .sort((a, b) => (a.created < b.created ? 1 : -1));
  }

  /** A token for an application, which renews it by itself, until the user who allowed it may not any more. */
  async createRefreshable(
    wanted: NewToken,
    { maker, ...lent }: RefreshGrant & { maker: string },
  ): Promise<RefreshableToken> {
    const id = newTokenId();
    const { refresh, columns } = nextRefresh({ id }, lent);
    const made = { link_session: null, link_maker: maker };
    return { ...(await this.#create(wanted, { id, ...columns, ...made })), refresh };
  }

  async #create(
    { label, scope, sessions, expires, sandbox }: NewToken,
    more: Pick<TokenRow, 'id'> & typeof noRefresh & LinkColumns,
    { stored }: Storing = { stored: true },
  ): Promise<MadeToken> {
    if (this.#rows.size >= maxTokens) {
      throw new AppError('limit_reached', `There are ${maxTokens} tokens. Revoke some first.`);
    }
    const token = newTokenSecret();
    const row: TokenRow = {
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
    if (!this.#isBacked(row)) throw mayNotMake();
    if (stored) await this.#table.insert(row);
    else this.#unstored.add(row.id);
    await this.#keep(row);
    return { ...tokenInfoOf(row), token };
  }

  /** A stored token becomes valid, unless its maker lost its rights while it was stored. */
  async #keep(row: TokenRow): Promise<void> {
    this.#rows.add(row);
    if (this.#isBacked(row)) return;
    await this.#revokeAll([row]);
    throw mayNotMake();
  }

  /**
   * Gives the token another secret. The old one is invalid at once, also on open connections, and ends logins and links
   * with it. The caller who gets the new one is its maker from then on.
   */
  rotate(id: string, by: Pick<Caller, 'id'>): Promise<MadeToken> {
    return this.#alone(id, async () => {
      const row = this.#row(id);
      if (by.id !== callerId(id) && this.#rows.isMadeThrough(by.id, id)) throw madeByIt();
      const maker = by.id === callerId(id) ? row.link_maker : by.id;
      // An application with the old token cannot renew it either.
      const made = await this.#renew(row, { ...noRefresh, link_maker: maker });
      if (made) await this.ends.endSecret(callerId(id));
      return made;
    });
  }

  /**
   * Renews an application’s token, like `rotate`; undefined when that is not allowed. Each refresh token is valid
   * once. A second use means that it was stolen, so all tokens of its family are revoked.
   */
  async refresh(given: string, { expires, ...lent }: RefreshGrant & { expires: string }) {
    const read = readRefresh(given);
    const renewed = await this.#alone(read?.id, async () => {
      const row = this.#rows.withId(read?.id);
      if (!read || !row || !this.#isBacked(row)) return null;
      if (row.refresh_family !== hashOfSecret(read.family)) return null;
      if (row.refresh_hash !== hashOfSecret(read.secret)) {
        await this.revoke(row.id);
        return null;
      }
      if (row.client !== lent.client || hasLapsed(row)) return null;
      const { refresh, columns } = nextRefresh(read, lent);
      const made = await this.#renew(row, { ...columns, expires });
      return made && { ...made, refresh };
    });
    return renewed ?? undefined;
  }

  /** Repeats the work while it returns undefined, because another server was faster, on what that one stored. */
  #alone<T>(id: string | undefined, work: () => Promise<T | undefined>): Promise<T> {
    return this.#rotation.runExclusive(async () => {
      for (;;) {
        const done = await work();
        if (done !== undefined) return done;
        await this.#read(id);
      }
    });
  }

  /** Undefined when another server has changed it meanwhile. */
  async #renew(row: TokenRow, more: Partial<TokenRow>): Promise<MadeToken | undefined> {
    const { id } = row;
    const token = newTokenSecret();
    const change = { ...more, hash: hashOfSecret(token) };
    if (!this.#unstored.has(id) && !(await this.#table.change(row, change))) return undefined;
    // It may have been revoked meanwhile.
    if (!this.#rows.delete(row)) throw noToken(id);
    const changed = { ...row, ...change };
    this.ends.end(callerId(id));
    await this.#keep(changed);
    return { ...tokenInfoOf(changed), token };
  }

  /** The token is invalid at once, also on open connections, and so are the tokens that it made. */
  async revoke(id: string): Promise<void> {
    await this.#revokeAll([this.#row(id)]);
  }

  #revokeLinksOf(maker: string): Promise<void> {
    return this.#revokeAll(
      this.#rows.all().filter((row) => row.link_session !== null && row.link_maker === maker),
    );
  }

  /** Revokes these tokens, and all whose makers may not make them any more. */
  async #revokeAll(rows: readonly TokenRow[]): Promise<void> {
    for (const row of rows) this.#rows.delete(row);
    const unbacked = this.#rows.all().filter((row) => !this.#isBacked(row));
    // Invalid in this server even if the disk is full.
    for (const row of unbacked) this.#rows.delete(row);
    const ids = [...rows, ...unbacked].map(({ id }) => id);
    if (ids.length === 0) return;
    for (const id of ids) {
      this.#revoked.add(id);
      this.ends.end(callerId(id));
    }
    await this.#table.remove(ids);
    for (const id of ids) {
      this.#revoked.delete(id);
      this.#unstored.delete(id);
    }
  }

  /** Takes over what another server may have changed, of one token or of all. */
  async #read(id?: string): Promise<void> {
    const known = id === undefined ? this.#rows.all() : [this.#rows.withId(id)];
    const rows = await this.#table.read(id);
    for (const row of rows) {
      const before = this.#rows.withId(row.id);
      if (this.#revoked.has(row.id)) continue;
      if (before) this.#rows.delete(before);
      this.#rows.add(row);
      if (before && before.hash !== row.hash) this.ends.end(callerId(row.id));
    }
    const stored = new Set(rows.map((row) => row.id));
    const isGone = (row: TokenRow) => !stored.has(row.id) && !this.#unstored.has(row.id);
    // The server that revoked them has done the same with those that they made.
    for (const row of known) {
      if (!row || !isGone(row)) continue;
      this.#rows.delete(row);
      this.ends.end(callerId(row.id));
    }
  }

  /** Whether its maker may still make such a token: a link, or any other. */
  #isBacked({ link_maker: by, link_session: session }: LinkColumns): boolean {
    if (by === null || by === ownerCaller.id) return true;
    return may(this.caller(by) ?? this.users.caller(by), session === null ? 'admin' : 'operate');
  }

  /** The time when a token ends; null for never. Throws `not_found`. */
  expiresOf(id: string): string | null {
    return this.#row(id).expires;
  }

  /** The caller of a token; undefined when it is unknown or has expired. */
  callerOf(token: string): Caller | undefined {
    if (!token.startsWith(tokenPrefix)) return undefined;
    const row = this.#rows.withHash(hashOfSecret(token));
    if (!row || isOver(row) || !this.#isBacked(row)) return undefined;
    this.#table.used(row);
    return this.#caller(row);
  }

  /** The token with a caller’s id, if it is still valid. */
  caller(id: string): Caller | undefined {
    const row = this.#rows.withId(idOfCaller(id));
    return row && !isOver(row) && this.#isBacked(row) ? this.#caller(row) : undefined;
  }

  /** The id of a token, or of the token that a refresh token renews; undefined for anything else. */
  idOf(secret: string): string | undefined {
    const read = readRefresh(secret);
    if (!read) return this.#rows.withHash(hashOfSecret(secret))?.id;
    const row = this.#rows.withId(read.id);
    return row?.refresh_hash === hashOfSecret(read.secret) ? row.id : undefined;
  }

  #caller(row: TokenRow): Caller {
    const sessions = sessionsOfToken(row);
    const id = callerId(row.id);
    return {
      id,
      label: row.label,
      scope: row.scope,
      sessions: sessions === 'all' ? 'all' : this.#set(id, sessions),
      begins: !Array.isArray(sessions),
      user: this.#rows.userOf(row) ?? ownerCaller.id,
      expires: row.expires === null ? null : Date.parse(row.expires),
      ...sandboxOfToken(row),
      ...(this.#unstored.has(row.id) && { isLocal: true }),
    };
  }

  #set(caller: string, sessions: 'own' | readonly string[]): SessionSet {
    return sessions === 'own' ? this.owners.of(caller) : sessionsMatching(sessions);
  }

  #row(id: string): TokenRow {
    const row = this.#rows.withId(id);
    if (!row) throw noToken(id);
    return row;
  }
}
