import { randomBytes } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  AppError,
  includesScope,
  type NewUser,
  type Scope,
  type UserChange,
  type UserInfo,
} from '@belay/protocol';
import type { Selectable } from 'kysely';
import { ColdChanges } from '../storage/cold-changes.js';
import { Database, isTwice, notStored } from '../storage/database.js';
import type { AccountTable } from '../storage/database-schema.js';
import type { Caller } from './caller.js';
import { CallerEnds } from './caller-ends.js';
import { hashPassword, isPassword } from './passwords.js';

const maxUsers = 10_000;

type Row = Selectable<AccountTable>;

/** A user as described by the identity provider. */
export interface ProvidedUser {
  /** Issuer and user id, which stay the same when the name changes. */
  subject: string;
  name: string;
  /** Undefined for one who has no rights here, or none any more. */
  scope: Scope | undefined;
}

/** The users of a team’s server; a personal server has none. */
@Injectable()
export class UsersStore implements OnModuleInit {
  /** All users, by id. */
  readonly #rows = new Map<string, Row>();
  /** Those that are not stored yet. */
  readonly #adding = new Set<string>();

  constructor(
    private readonly database: Database,
    private readonly ends: CallerEnds,
    private readonly changes: ColdChanges,
  ) {
    changes.follow('account', (id) => this.#read(id));
  }

  async onModuleInit(): Promise<void> {
    await this.database.migrated();
    if (!this.changes.hasRead) await this.#read();
  }

  /** Whether any user can log in with a password. */
  get hasPasswords(): boolean {
    return [...this.#rows.values()].some(({ password }) => password !== null);
  }

  /** Whether a caller is a user who logs in with a password. */
  hasPassword(caller: Caller): boolean {
    return typeof this.#rows.get(userIdOf(caller))?.password === 'string';
  }

  list(): UserInfo[] {
    return [...this.#rows.values()].sort((a, b) => a.name.localeCompare(b.name)).map(infoOf);
  }

  async create({ name, password, scope }: NewUser): Promise<UserInfo> {
    const row = this.#newRow({ name, scope, password: await hashPassword(password) });
    return infoOf(await this.#add(row));
  }

  /** Ends the user’s logins; another password also ends the links that the user made. */
  async change(id: string, { scope, password }: UserChange): Promise<UserInfo> {
    const row = this.#row(id);
    if (password !== undefined && row.subject !== null) {
      const message = `${row.name} logs in through the identity provider. Change the password there.`;
      throw new AppError('conflict', message);
    }
    const hashed = password === undefined ? undefined : await hashPassword(password);
    const changed = await this.#store(id, {
      ...(scope && { scope }),
      ...(hashed !== undefined && { password: hashed }),
    });
    if (hashed === undefined) await this.ends.endLogins(userCallerId(id));
    else await this.ends.endSecret(userCallerId(id));
    return infoOf(changed);
  }

  async remove(id: string): Promise<void> {
    this.#row(id);
    this.#rows.delete(id);
    this.ends.endRights(userCallerId(id));
    try {
      await this.database.kysely
        .deleteFrom('account')
        .where('id', '=', id)
        .execute()
        .catch(notStored);
    } finally {
      await this.ends.endLogins(userCallerId(id));
    }
  }

  /** The user with this name and password; takes the same time if there is none. */
  async withPassword(name: string, password: string): Promise<Caller | undefined> {
    const row = [...this.#rows.values()].find(
      (each) => each.name === name && each.password !== null,
    );
    if (!(await isPassword(password, row?.password ?? undefined))) return undefined;
    // It may have been removed while the password was checked.
    const now = row && this.#rows.get(row.id);
    if (!now || now.password !== row.password) return undefined;
    return callerOf(await this.#store(now.id, { last_login: new Date().toISOString() }));
  }

  /**
   * The user sent by the identity provider: added at the first login, and updated at later ones. Undefined for one
   * without rights, who is removed.
   */
  async provided({ subject, name, scope }: ProvidedUser): Promise<Caller | undefined> {
    const known = [...this.#rows.values()].find((each) => each.subject === subject);
    if (scope === undefined) {
      if (known) await this.remove(known.id);
      return undefined;
    }
    const last_login = new Date().toISOString();
    if (!known)
      return callerOf(await this.#add({ ...this.#newRow({ name, scope, subject }), last_login }));
    const named = this.#freeName(name, known.id);
    return callerOf(await this.#store(known.id, { name: named, scope, last_login }));
  }

  caller(id: string): Caller | undefined {
    const row = id.startsWith(prefix) ? this.#rows.get(id.slice(prefix.length)) : undefined;
    return row && callerOf(row);
  }

  /** Whether the id of a caller is that of a user who exists no longer. */
  isRemoved(id: string): boolean {
    return id.startsWith(prefix) && this.caller(id) === undefined;
  }

  #newRow(given: Pick<Row, 'name' | 'scope'> & Partial<Row>): Row {
    return {
      id: randomBytes(6).toString('hex'),
      password: null,
      subject: null,
      created: new Date().toISOString(),
      last_login: null,
      ...given,
    };
  }

  async #add(row: Row): Promise<Row> {
    if (this.#rows.size >= maxUsers) {
      throw new AppError('limit_reached', `There are ${maxUsers} users. Remove some first.`);
    }
    if (row.subject === null && this.#isTaken(row.name, row.id)) {
      throw nameTaken(row.name);
    }
    const added = { ...row, name: this.#freeName(row.name, row.id) };
    // Reserved before it is stored, so that the same name cannot be added meanwhile.
    this.#rows.set(added.id, added);
    this.#adding.add(added.id);
    try {
      await this.database.kysely.insertInto('account').values(added).execute().catch(notStored);
    } catch (error) {
      this.#rows.delete(added.id);
      // Another server was faster.
      throw isTwice(error) ? nameTaken(row.name) : error;
    } finally {
      this.#adding.delete(added.id);
    }
    return added;
  }

  /**
   * Stores only the changed fields, because others may be changed at the same time. Another scope ends the user’s open
   * connections, and a narrower one ends what the user made with the wider.
   */
  async #store(id: string, change: Partial<Omit<Row, 'id'>>): Promise<Row> {
    await this.database.kysely
      .updateTable('account')
      .set(change)
      .where('id', '=', id)
      .execute()
      .catch(notStored);
    return this.#changed({ ...this.#row(id), ...change });
  }

  #changed(row: Row): Row {
    const before = this.#rows.get(row.id);
    this.#rows.set(row.id, row);
    if (before && !includesScope(row.scope, before.scope))
      this.ends.endRights(userCallerId(row.id));
    else if (before && row.scope !== before.scope) this.ends.end(userCallerId(row.id));
    return row;
  }

  /** Takes over what another server has changed, of one user or of all. */
  async #read(id?: string): Promise<void> {
    const known = id === undefined ? [...this.#rows.keys()] : [id];
    const all = this.database.kysely.selectFrom('account').selectAll();
    const rows = await (id === undefined ? all : all.where('id', '=', id)).execute();
    const stored = new Set(rows.map((row) => row.id));
    for (const row of rows) this.#changed(row);
    for (const one of known) {
      if (stored.has(one) || this.#adding.has(one)) continue;
      if (this.#rows.delete(one)) this.ends.endRights(userCallerId(one));
    }
  }

  #isTaken(name: string, id: string): boolean {
    return [...this.#rows.values()].some((each) => each.name === name && each.id !== id);
  }

  /** A name that is not taken: users of the provider may share a name with each other or with password users. */
  #freeName(name: string, id: string): string {
    return this.#isTaken(name, id) ? `${name}-${id.slice(0, 4)}` : name;
  }

  #row(id: string): Row {
    const row = this.#rows.get(id);
    if (!row) throw new AppError('not_found', `There is no user ${id}. List them: belay users`);
    return row;
  }
}

const nameTaken = (name: string): AppError =>
  new AppError('conflict', `A user named ${name} already exists. Choose another name.`);

const prefix = 'user:';
const userCallerId = (id: string): string => prefix + id;
export const userIdOf = ({ id }: Pick<Caller, 'id'>): string => id.slice(prefix.length);

const callerOf = ({ id, name, scope }: Row): Caller => ({
  id: userCallerId(id),
  label: name,
  scope,
  sessions: 'all',
  begins: true,
  expires: null,
});

function infoOf({ id, name, scope, subject, created, last_login: lastLogin }: Row): UserInfo {
  const logsInBy = subject === null ? 'password' : 'oidc';
  return { id, name, scope, logsInBy, created, lastLogin };
}
