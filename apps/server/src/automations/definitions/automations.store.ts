import { randomUUID, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError, automationDefinition, type AutomationDefinition } from '@belay/protocol';
import type { Caller } from '../../access/caller.js';
import type { AutomationTable } from '../../storage/automation-tables.js';
import { Database, notStored } from '../../storage/database.js';
import type { DatabaseConnection } from '../../storage/database-schema.js';
import { exclusively } from '../../storage/exclusively.js';
import { hashOfSecret, randomSecret } from '../../storage/secrets.js';
import { Clock } from '../clock.js';
import type { SavedAutomation } from './saved-automation.js';

const maxAutomations = 500;
/** Those that are kept as they were parsed. */
const keptDefinitions = 2 * maxAutomations;

/** Tells the secrets of URLs from the server’s other ones. */
const secretPrefix = 'bhk_';

interface Saving {
  by: Caller;
  /** The file of a repository that it comes from. */
  file?: SavedAutomation['file'];
}

/** A version of a definition, as it was saved. */
export interface SavedVersion {
  version: number;
  definition: AutomationDefinition;
  by: string;
  at: string;
}

/** The automations, with all versions of their definitions. Their names stay: a run, a branch and a comment name them. */
@Injectable()
export class AutomationsStore {
  readonly #listeners = new Set<() => void>();
  /** By their texts: every event and every look at a run reads automations. */
  readonly #definitions = new Map<string, AutomationDefinition>();

  constructor(
    private readonly database: Database,
    private readonly clock: Clock = new Clock(),
  ) {}

  /** All, or those with these ids, by name. Those whose definition an older server wrote and this one cannot read are left out. */
  async list(ids?: readonly string[]): Promise<SavedAutomation[]> {
    const all = this.#rows().orderBy('name');
    const rows = await (ids ? all.where('id', 'in', ids) : all).execute();
    return rows.flatMap((row) => this.#savedOf(row) ?? []);
  }

  async find(nameOrId: string): Promise<SavedAutomation | undefined> {
    const row = await this.#rows()
      .where((where) => where.or([where('name', '=', nameOrId), where('id', '=', nameOrId)]))
      .executeTakeFirst();
    return row && this.#savedOf(row);
  }

  /** Throws `not_found`. */
  async require(nameOrId: string): Promise<SavedAutomation> {
    const found = await this.find(nameOrId);
    if (found) return found;
    throw new AppError(
      'not_found',
      `There is no automation ${nameOrId.slice(0, 60)}. List them: belay automations`,
    );
  }

  /**
   * A new automation, or a new version of the one with this name; the same definition again makes none. The owner stays
   * the first one. Throws `limit_reached` for one too many, and `conflict` for a file of a repository that would replace
   * an automation from elsewhere.
   */
  async save(definition: AutomationDefinition, saving: Saving): Promise<SavedAutomation> {
    const id = await exclusively(this.database, 'automation', async (connection) => {
      const before = await this.#rows(connection)
        .where('name', '=', definition.name)
        .executeTakeFirst();
      if (!before) return this.#insert(connection, definition, saving);
      if (saving.file) assertSameOrigin(before, saving.file);
      await this.#replace(connection, before, { definition, ...saving });
      return before.id;
    });
    this.#changed();
    return this.require(id);
  }

  /** The state, and why it is not on. */
  async setState(id: string, state: SavedAutomation['state'], why: string | null): Promise<void> {
    await this.#update(id, { state, why, updated: this.#now() });
    this.#changed();
  }

  /** Throws `not_found`. Its runs and versions stay. */
  async remove(name: string): Promise<void> {
    const { id } = await this.require(name);
    await this.database.kysely
      .deleteFrom('automation')
      .where('id', '=', id)
      .execute()
      .catch(notStored);
    this.#changed();
  }

  /** Newest first, also of an automation that was removed. */
  async versions(id: string): Promise<SavedVersion[]> {
    const rows = await this.#versions(id).orderBy('version', 'desc').execute();
    return rows.flatMap(({ version, definition: text, by, at }) => {
      const definition = this.#definitionIn(text);
      return definition ? [{ version, definition, by, at }] : [];
    });
  }

  /** The definitions of these versions in one query; those that are gone, or that this server cannot read, are missing. */
  async definitionsOf(
    versions: readonly { automation: string; version: number }[],
  ): Promise<{ automation: string; version: number; definition: AutomationDefinition }[]> {
    const wanted = new Set(versions.map(({ automation, version }) => `${automation} ${version}`));
    const rows = await this.database.kysely
      .selectFrom('automation_version')
      .select(['automation', 'version', 'definition'])
      .where(
        'automation',
        'in',
        versions.map(({ automation }) => automation),
      )
      .where(
        'version',
        'in',
        versions.map(({ version }) => version),
      )
      .execute();
    return rows.flatMap(({ automation, version, definition: text }) => {
      const definition = wanted.has(`${automation} ${version}`)
        ? this.#definitionIn(text)
        : undefined;
      return definition ? [{ automation, version, definition }] : [];
    });
  }

  /** The next time of its schedule, and the last that was run or missed. Tells no listener. */
  async setSchedule(
    id: string,
    { nextAt, lastAt }: Pick<SavedAutomation, 'nextAt' | 'lastAt'>,
  ): Promise<void> {
    await this.#update(id, { next_at: nextAt, last_at: lastAt });
  }

  /** Makes the secret of its URL; the earlier one is no longer accepted. Only its hash is kept. Throws `not_found`. */
  async setSecret(id: string): Promise<string> {
    const secret = `${secretPrefix}${randomSecret()}`;
    await this.#update(id, { secret: hashOfSecret(secret) });
    return secret;
  }

  /** The automation with this id and secret. Takes the same time for any wrong secret. */
  async bySecret(id: string, secret: string): Promise<SavedAutomation | undefined> {
    const row = await this.#rows().where('id', '=', id).executeTakeFirst();
    const given = Buffer.from(hashOfSecret(secret));
    const kept = Buffer.from(row?.secret ?? hashOfSecret(''));
    const isSame = kept.length === given.length && timingSafeEqual(kept, given);
    return isSame && row?.secret ? this.#savedOf(row) : undefined;
  }

  /** Called after each change by this server but that of a schedule’s times; returns what ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #insert(
    connection: DatabaseConnection,
    definition: AutomationDefinition,
    { by, file }: Saving,
  ): Promise<string> {
    const { count } = await connection
      .selectFrom('automation')
      .select(({ fn }) => fn.countAll().as('count'))
      .executeTakeFirstOrThrow();
    if (Number(count) >= maxAutomations)
      throw new AppError(
        'limit_reached',
        `There are ${maxAutomations} automations. Remove one first.`,
      );
    const [id, now] = [randomUUID(), this.#now()];
    const text = JSON.stringify(definition);
    await connection
      .insertInto('automation')
      .values({
        id,
        name: definition.name,
        version: 1,
        definition: text,
        owner: by.id,
        state: 'on',
        why: null,
        file: file ? JSON.stringify(file) : null,
        secret: null,
        next_at: null,
        last_at: null,
        created: now,
        updated: now,
      })
      .execute();
    await addVersion(connection, {
      automation: id,
      version: 1,
      definition: text,
      by: by.id,
      at: now,
    });
    return id;
  }

  async #replace(
    connection: DatabaseConnection,
    before: AutomationTable,
    { definition, by, file }: Saving & { definition: AutomationDefinition },
  ): Promise<void> {
    const { id } = before;
    const now = this.#now();
    const text = JSON.stringify(definition);
    const origin = file ? { file: JSON.stringify(file) } : {};
    if (text === before.definition) {
      if (file)
        await connection.updateTable('automation').set(origin).where('id', '=', id).execute();
      return;
    }
    const version = before.version + 1;
    await addVersion(connection, { automation: id, version, definition: text, by: by.id, at: now });
    const hasSameTrigger =
      JSON.stringify(this.#definitionIn(before.definition)?.on) === JSON.stringify(definition.on);
    await connection
      .updateTable('automation')
      .set({
        version,
        definition: text,
        updated: now,
        ...origin,
        // Times of another schedule do not count, and what was broken may be well now.
        ...(!hasSameTrigger && { next_at: null }),
        ...(before.state === 'broken' && { state: 'on' as const, why: null }),
      })
      .where('id', '=', id)
      .execute();
  }

  async #update(id: string, change: Partial<AutomationTable>): Promise<void> {
    const { numUpdatedRows } = await this.database.kysely
      .updateTable('automation')
      .set(change)
      .where('id', '=', id)
      .executeTakeFirst()
      .catch(notStored);
    if (numUpdatedRows === 0n) throw new AppError('not_found', 'The automation was removed.');
  }

  #rows(connection: DatabaseConnection = this.database.kysely) {
    return connection.selectFrom('automation').selectAll();
  }

  #versions(id: string) {
    return this.database.kysely
      .selectFrom('automation_version')
      .selectAll()
      .where('automation', '=', id);
  }

  #savedOf(row: AutomationTable): SavedAutomation | undefined {
    const definition = this.#definitionIn(row.definition);
    if (!definition) return undefined;
    const { id, name, version, owner, state, why, created, updated } = row;
    return {
      id,
      name,
      version,
      definition,
      owner,
      state,
      why,
      file: fileIn(row.file),
      nextAt: row.next_at,
      lastAt: row.last_at,
      created,
      updated,
    };
  }

  #definitionIn(text: string): AutomationDefinition | undefined {
    const known = this.#definitions.get(text);
    if (known) return known;
    const { data } = automationDefinition.safeParse(JSON.parse(text));
    if (this.#definitions.size >= keptDefinitions) this.#definitions.clear();
    if (data) this.#definitions.set(text, data);
    return data;
  }

  #now(): string {
    return this.clock.now().toISOString();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

const addVersion = async (
  connection: DatabaseConnection,
  row: { automation: string; version: number; definition: string; by: string; at: string },
): Promise<unknown> => connection.insertInto('automation_version').values(row).execute();

/** Otherwise, whoever may write to a repository could replace any automation by its name. */
function assertSameOrigin(
  before: AutomationTable,
  file: NonNullable<SavedAutomation['file']>,
): void {
  const kept = fileIn(before.file);
  if (kept?.host === file.host && kept.repository === file.repository) return;
  const where = kept ? `from ${kept.host}/${kept.repository}` : 'which an admin wrote';
  throw new AppError(
    'conflict',
    `There is an automation ${before.name} already, ${where}. Choose another name in ${file.path}.`,
  );
}

const fileIn = (text: string | null): SavedAutomation['file'] =>
  text === null ? null : (JSON.parse(text) as SavedAutomation['file']);
