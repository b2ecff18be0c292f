import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isPublicAddress } from '@belay/host';
import { AppError, ignoreError, ownValue, type ForgeUser } from '@belay/protocol';
import { z } from 'zod';
import type { Caller } from '../../access/caller.js';
import { Config } from '../../config.js';
import { Resolver } from '../../egress/resolver.js';
import type { ForgeSourceTable } from '../../storage/automation-tables.js';
import { Database } from '../../storage/database.js';
import { Documents } from '../../storage/documents.js';
import type { Document } from '../../storage/document.js';
import { exclusively } from '../../storage/exclusively.js';
import { Clock } from '../clock.js';
import { Forges } from './forges.js';
import { hasLevel, type Forge, type ForgeRepository } from './forge.js';
import type { Selectable } from 'kysely';

/** A repository whose events begin runs. */
export type ForgeSource = Selectable<ForgeSourceTable>;

const secrets = z.record(z.string(), z.string());
const maxSources = 500;

/** The repositories whose events are followed, and the secrets of their webhooks, which are in no table. */
@Injectable()
export class ForgeSources {
  readonly #secrets: Document<typeof secrets>;

  constructor(
    private readonly config: Config,
    private readonly database: Database,
    documents: Documents,
    private readonly forges: Forges,
    private readonly resolver: Resolver,
    private readonly clock: Clock,
  ) {
    this.#secrets = documents.open('forge-hook-secrets', secrets, {});
  }

  list(): Promise<ForgeSource[]> {
    return this.#rows().orderBy('host').orderBy('repository').execute();
  }

  find(id: string): Promise<ForgeSource | undefined> {
    return this.#rows().where('id', '=', id).executeTakeFirst();
  }

  /** By the repository’s path, in any case of letters, as hosts take it. */
  async of(host: string, repository: string): Promise<ForgeSource | undefined> {
    const rows = await this.#rows().where('host', '=', host).execute();
    return rows.find((row) => row.repository.toLowerCase() === repository.toLowerCase());
  }

  /**
   * Follows a repository, or renews what is known of it. `source.problem` says what the token may not. The secret is
   * returned once, for a webhook that has to be made by hand. Throws if the repository cannot be read.
   */
  async connect(
    host: string,
    repository: string,
    { trustFiles }: { trustFiles?: boolean | undefined },
    caller: Pick<Caller, 'id'>,
  ): Promise<{ source: ForgeSource; secret: string | null }> {
    const forge = this.forges.open(host, repository);
    const [found, self] = await Promise.all([forge.repository(), forge.self()]);
    if (found.defaultBranch === '')
      throw new AppError('rejected', `${found.path} has no branch yet. Push one first.`);
    const lack = await lackOf(forge, self);
    const id = await this.#save(host, found, { self, trustFiles, caller });
    const hook = await this.#hook(forge, id);
    await this.database.kysely
      .updateTable('forge_source')
      .set({ problem: lack ?? hook.problem, failures: 0, hook_id: hook.id })
      .where('id', '=', id)
      .execute();
    return { source: await this.#require(id), secret: hook.secret };
  }

  /** Removes the webhook as well, if the host still lets it. Returns what was followed. */
  async disconnect(id: string): Promise<ForgeSource> {
    const source = await this.#require(id);
    const { host, repository, hook_id: hook } = source;
    if (hook !== null)
      await (async () => this.forges.open(host, repository).removeHook(hook))().catch(
        ignoreError('the host, its token or the repository may be gone'),
      );
    const { kysely } = this.database;
    await kysely.deleteFrom('poll_cursor').where('source', '=', id).execute();
    await kysely.deleteFrom('forge_source').where('id', '=', id).execute();
    await this.#secrets.change(({ [id]: _removed, ...others }) => others);
    return source;
  }

  /** The secret of its webhook. Throws `not_found` for a source without one. */
  async secretOf(id: string): Promise<string> {
    // Another server may have made it.
    if (ownValue(this.#secrets.value, id) === undefined) await this.#secrets.refresh();
    const secret = ownValue(this.#secrets.value, id);
    if (secret !== undefined) return secret;
    throw new AppError('not_found', 'The repository has no webhook. Connect it again.');
  }

  /** Where its webhook sends; null without a public address. */
  hookUrl(id: string): string | null {
    const { publicUrl } = this.config;
    return publicUrl === undefined ? null : `${publicUrl}/hooks/git/${id}`;
  }

  /** Counts failures in a row; null ends them, and leaves what `connect` found. */
  async noteProblem(id: string, problem: string | null): Promise<void> {
    const update = this.database.kysely.updateTable('forge_source').where('id', '=', id);
    await (
      problem === null
        ? update.set({ problem: null, failures: 0 }).where('failures', '>', 0)
        : update.set(({ eb }) => ({ problem, failures: eb('failures', '+', 1) }))
    ).execute();
  }

  /** The definitions in its default branch were read at a commit; a problem stays until the next one. */
  async noteFiles(id: string, commit: string, problem: string | null): Promise<void> {
    await this.database.kysely
      .updateTable('forge_source')
      .set({ files_commit: commit, problem, failures: 0 })
      .where('id', '=', id)
      .execute();
  }

  /** A renamed repository keeps its id, and with it its webhook; another one of the same name does not. */
  #save(
    host: string,
    { id: repositoryId, path, defaultBranch }: ForgeRepository,
    wanted: { self: ForgeUser; trustFiles: boolean | undefined; caller: Pick<Caller, 'id'> },
  ): Promise<string> {
    const { self, trustFiles, caller } = wanted;
    const now = {
      repository: path,
      default_branch: defaultBranch,
      self_id: self.id,
      self_name: self.name,
      // They are read again for whoever trusts them now.
      ...(trustFiles !== undefined && {
        files_by: trustFiles ? caller.id : null,
        files_commit: null,
      }),
    };
    return exclusively(this.database, 'forge_source', async (connection) => {
      const rows = await connection.selectFrom('forge_source').selectAll().execute();
      const known = rows.find((row) => row.host === host && row.repository_id === repositoryId);
      const gone = rows.find(
        (row) => row.host === host && row.repository === path && row.id !== known?.id,
      );
      if (gone) await connection.deleteFrom('forge_source').where('id', '=', gone.id).execute();
      if (known) {
        await connection.updateTable('forge_source').set(now).where('id', '=', known.id).execute();
        return known.id;
      }
      if (rows.length >= maxSources)
        throw new AppError('limit_reached', `There are ${maxSources} sources. Remove one first.`);
      const id = randomBytes(10).toString('hex');
      const created = this.clock.now().toISOString();
      await connection
        .insertInto('forge_source')
        .values({ id, host, repository_id: repositoryId, files_by: null, ...now, created })
        .execute();
      return id;
    });
  }

  /** Makes the webhook where the token may; otherwise the secret is for one that is made by hand. */
  async #hook(
    forge: Forge,
    id: string,
  ): Promise<{ id: string | null; secret: string | null; problem: string | null }> {
    const { hook_id: known } = await this.#require(id);
    const url = this.hookUrl(id);
    if (url === null) return { id: known, secret: null, problem: null };
    await this.#secrets.refresh();
    const before = this.#secrets.value[id];
    const secret = before ?? randomBytes(32).toString('hex');
    if (before === undefined) await this.#secrets.change((all) => ({ [id]: secret, ...all }));
    try {
      const made = await forge.setHook({ id: known, url, secret });
      return { id: made, secret: null, problem: await this.#hintOf(forge, url) };
    } catch (error) {
      if (!(error instanceof AppError) || !byHand.has(error.code)) throw error;
      return { id: null, secret: before === undefined ? secret : null, problem: error.message };
    }
  }

  /** Gitea and GitLab do not send to private networks unless they are told to. */
  async #hintOf({ kind, host }: Forge, url: string): Promise<string | null> {
    const setting = allowances[kind];
    if (setting === null) return null;
    const addresses = await this.resolver.addresses(new URL(url).hostname.replace(/^\[|\]$/g, ''));
    if (addresses.length === 0 || addresses.some(isPublicAddress)) return null;
    return `${host} sends webhooks into a private network only if ${setting} allows it; until then, it is polled.`;
  }

  async #require(id: string): Promise<ForgeSource> {
    const found = await this.find(id);
    if (found) return found;
    throw new AppError('not_found', 'There is no such source. List them: belay automations list');
  }

  #rows() {
    return this.database.kysely.selectFrom('forge_source').selectAll();
  }
}

/** Refusals of a webhook that leave the way by hand, and polling. */
const byHand: ReadonlySet<string> = new Set(['forbidden', 'not_found', 'rejected']);

const allowances: Readonly<Record<Forge['kind'], string | null>> = {
  github: null,
  gitlab: '“Allow requests to the local network from webhooks” of its administration',
  gitea: '[webhook] ALLOWED_HOST_LIST of its app.ini',
};

/** What the token may not and automations need, in one sentence; null for nothing. */
async function lackOf(forge: Forge, self: ForgeUser): Promise<string | null> {
  try {
    const level = await forge.level(self);
    // Everyone may ask for their own permission at Gitea, and only administrators for that of others.
    if (forge.kind === 'gitea' && level !== 'admin')
      return `The token for ${forge.host} cannot ask who may write: give it repository administration, or list people in trust.users.`;
    return hasLevel(level, 'write')
      ? null
      : `${self.name}, the user of the token for ${forge.host}, has no write access to ${forge.path}: nothing can be pushed there.`;
  } catch (error) {
    if (error instanceof AppError && error.code === 'forbidden') return error.message;
    throw error;
  }
}
