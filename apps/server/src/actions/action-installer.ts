import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import {
  AppError,
  errorFrom,
  type ActionSource,
  type InstalledAction,
  type McpServer,
} from '@belay/protocol';
import { Mutex } from 'async-mutex';
import type { OnLead } from '../storage/on-lead.js';
import { writeWhole } from '../storage/write-whole.js';
import { digestOf, actionTar } from './action-files.js';
import { ActionImages, type InstallOptions } from './containers/action-images.js';
import { versionsOf, type ActionRecord, type ActionVersion } from './action-record.js';
import { ActionStore } from './action.store.js';
import type { FoundAction } from './find-actions.js';
import { InstalledActions } from './installed-actions.js';
import { InstalledServers } from './installed-servers.js';
import { PulledImages } from './pulled-images.js';

/** The number of previous versions whose images are kept for sessions that began with them. */
const keptVersions = 3;

/** Installs, updates and removes actions, one at a time; a failure leaves the previous state. */
@Injectable()
export class ActionInstaller implements OnLead, BeforeApplicationShutdown {
  readonly #logger = new Logger(ActionInstaller.name);
  readonly #queue = new Mutex();
  #isClosing = false;

  constructor(
    private readonly store: ActionStore,
    private readonly images: ActionImages,
    private readonly installed: InstalledActions,
    private readonly servers: InstalledServers,
    private readonly pulled: PulledImages,
  ) {}

  /** Removes the remains of an install that was killed. */
  onLead(): void {
    void this.#queued(() => this.images.keepOnly(imagesOf(this.store.all))).catch(
      (error: unknown) => this.#logger.warn(errorFrom(error).message),
    );
  }

  /** Cancels running installs, so that nothing calls the engine after the server’s end. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#isClosing = true;
    await this.#queue.runExclusive(() => undefined);
  }

  /** Throws one sentence; then nothing has changed. */
  install(
    found: FoundAction,
    source: ActionSource,
    options: InstallOptions,
  ): Promise<InstalledAction> {
    return this.#queued(async () => {
      options.signal.throwIfAborted();
      const { manifest, files, kind, readme } = found;
      const name = manifest.name_for_model;
      const before = this.store.all.find((one) => one.name === name);
      if (before && before.kind !== kind)
        throw new AppError('conflict', `${name} is installed as something else: remove it first.`);
      if (kind === 'mcp') this.servers.assertFree(name);
      const digest = digestOf(files);
      const { base_image: base = null, packages, permissions } = manifest;
      const image =
        kind === 'skill'
          ? null
          : await this.images.make(
              { name, files, base, packages, hosts: permissions.network },
              { ...options, onPulled: (pulled) => this.pulled.add(pulled) },
            );
      await writeWhole(
        this.store.archiveOf(digest),
        Readable.from([await actionTar(files, 'action')]),
      );
      const installed = new Date().toISOString();
      const current = { image, digest, manifest, readme, source, installed };
      await this.#put(recordOf({ name, kind, current }, before), before, options);
      return this.installed.known(name);
    });
  }

  /** Removes the action with its images, files and secrets. Throws `not_found`. */
  remove(name: string): Promise<void> {
    return this.#queued(async () => {
      const record = this.store.known(name);
      await this.store.remove(name);
      await this.servers.refresh(name);
      await this.#discard(versionsOf(record));
      if (record.kind !== 'skill') await this.images.endCalls(name);
    });
  }

  /**
   * Called at the end of a call whose action was removed meanwhile: removes images that its services pulled. Never
   * rejects.
   */
  async removeUnneeded(): Promise<void> {
    if (!this.#isClosing) await this.#queued(() => Promise.resolve());
  }

  async enable(name: string, enabled: boolean): Promise<InstalledAction> {
    await this.#queued(() => this.store.put({ ...this.store.known(name), enabled }));
    await this.servers.refresh(name);
    return this.installed.known(name);
  }

  /** Runs one operation at a time, so that none removes an image that another is about to need. */
  #queued<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.runExclusive(async () => {
      try {
        return await work();
      } finally {
        await this.pulled.removeUnneeded();
      }
    });
  }

  async #put(
    record: ActionRecord,
    before: ActionRecord | undefined,
    { onLine }: InstallOptions,
  ): Promise<void> {
    await this.store.put(record);
    const server = await this.servers.refresh(record.name);
    if (server?.state === 'connected') onLine(`Its tools: ${toolNames(server)}.`);
    else if (server?.error) onLine(server.error);
    await this.#discard(before ? versionsOf(before) : []);
  }

  /** Removes what these versions used and no action uses now. */
  async #discard(versions: readonly ActionVersion[]): Promise<void> {
    const used = this.store.all.flatMap(versionsOf);
    const images = new Set(used.map(({ image }) => image));
    const digests = new Set(used.map(({ digest }) => digest));
    for (const { digest } of versions)
      if (!digests.has(digest)) await rm(this.store.archiveOf(digest), { force: true });
    const unused = versions.flatMap(({ image }) =>
      image === null || images.has(image) ? [] : [image],
    );
    if (unused.length > 0) await this.images.remove([...new Set(unused)]);
  }
}

const toolNames = ({ offered }: McpServer): string =>
  offered
    .map(({ name }) => name.slice(0, 100))
    .slice(0, 50)
    .join(', ') || 'none';

/** Versions are equal if they have the same image, or, for skills, the same files. */
const identityOf = ({ image, digest }: ActionVersion): string => image ?? digest;

function recordOf(
  { name, kind, current }: Pick<ActionRecord, 'name' | 'kind' | 'current'>,
  before: ActionRecord | undefined,
): ActionRecord {
  const versions = before ? versionsOf(before) : [];
  const others = versions.filter((one) => identityOf(one) !== identityOf(current));
  const earlier = others.slice(0, keptVersions);
  return { name, kind, enabled: before?.enabled ?? true, current, earlier };
}

const imagesOf = (records: readonly ActionRecord[]): string[] =>
  records.flatMap(versionsOf).flatMap(({ image }) => image ?? []);
