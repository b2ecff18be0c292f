import { randomBytes } from 'node:crypto';
import { Transform, type Readable, type TransformCallback } from 'node:stream';
import { Injectable } from '@nestjs/common';
import {
  AppError,
  clonedWorkspace,
  sentWorkspace,
  type ClonedRepository,
  type SessionSettings,
} from '@belay/protocol';
import type { Caller } from '../access/caller.js';
import { LatestUploads } from '../access/latest-uploads.js';
import { Config } from '../config.js';
import type { OpenTar, TarSource } from '../sandboxes/connection/agent-calls.js';
import { storageError } from '../storage/database.js';
import { FreeSpace } from '../storage/free-space.js';
import { ObjectStore } from '../storage/object-store.js';
import { KeyedMutex } from '../storage/keyed-mutex.js';
import { ClonedWorkspaces } from './cloned-workspaces.js';
import { Examples } from './examples.js';
import { IncomingWorkspaces, KeptWorkspace } from './incoming-workspaces.js';

const folder = 'workspaces';

/** Workspaces as tar archives: uploads, examples, and the initial files of forks. */
@Injectable()
export class WorkspaceStore {
  readonly #maxMb: number;
  readonly #space: FreeSpace;
  /** Archives that are being cloned. */
  readonly #cloning = new KeyedMutex();

  constructor(
    config: Config,
    private readonly examples: Examples,
    private readonly incoming: IncomingWorkspaces,
    private readonly clones: ClonedWorkspaces,
    private readonly objects: ObjectStore,
    private readonly uploads: LatestUploads,
  ) {
    this.#maxMb = config.maxWorkspaceMb;
    this.#space = new FreeSpace(config);
  }

  /** Stores a caller’s archive; returns its id. Throws `too_large` above its limit, `invalid_input` for what is not a tar archive. */
  async upload(caller: Caller, tar: Readable): Promise<string> {
    const id = newArchiveId();
    await this.#save(id, tar);
    await this.uploads.add(caller, id);
    return id;
  }

  /**
   * Streams an archive to the sandbox of the session that it belongs to. Rejects like `upload`, and with the reason
   * why the session could not start.
   */
  async send(session: string, tar: Readable, bytes?: number): Promise<void> {
    const checked = checkTar(this.#maxMb);
    tar.once('error', (error) => checked.destroy(error instanceof AppError ? error : brokenOff()));
    const keep = () => this.#save(seedOf(session), checked);
    tar.pipe(checked);
    // The reader of the archive reports its errors.
    checked.on('error', () => undefined);
    await this.incoming.send(session, { tar: checked, bytes }, keep);
  }

  /** Throws `not_found` when the workspace that a caller names does not exist, or another caller uploaded it. */
  async choose(workspace: string | null, caller: Caller): Promise<void> {
    await this.#check(workspace);
    if (workspace === null || !isUpload(workspace)) return;
    if (!(await this.uploads.has(caller, workspace))) throw noWorkspace(workspace);
  }

  async #check(workspace: string | null): Promise<void> {
    if (workspace === null || workspace === sentWorkspace || workspace === clonedWorkspace) return;
    if (workspace.startsWith('example:'))
      return void (await this.examples.find(workspace.slice(8)));
    if (!isUpload(workspace) || !(await this.#isStored(workspace))) throw noWorkspace(workspace);
  }

  /** The initial files of a session, opened when they are needed; undefined for an empty folder. */
  async source(
    session: string,
    { workspace, repository }: Pick<SessionSettings, 'workspace' | 'repository'>,
  ): Promise<OpenTar | undefined> {
    const seed = seedOf(session);
    if (await this.#isStored(seed)) return () => this.#opened(seed);
    if (workspace === null) return undefined;
    return async () => {
      if (workspace === sentWorkspace) return this.#sent(session);
      if (workspace === clonedWorkspace && repository) return this.clones.open(session, repository);
      if (repository) await this.#cloneOnce(session, workspace, repository);
      await this.#check(workspace);
      const name = /^example:(.*)$/s.exec(workspace)?.[1];
      return name === undefined ? this.#opened(workspace) : { tar: await this.examples.pack(name) };
    };
  }

  async #sent(session: string): Promise<TarSource> {
    const seed = seedOf(session);
    try {
      return await this.incoming.take(session);
    } catch (error) {
      if (error instanceof KeptWorkspace) await error.kept;
      // The archive may have been stored since this start began.
      else if (!(await this.#isStored(seed))) throw error;
      return this.#opened(seed);
    }
  }

  /** The first of the sessions that share a clone makes it; the others wait for it. */
  #cloneOnce(session: string, workspace: string, repository: ClonedRepository): Promise<void> {
    return this.#cloning.run(workspace, async () => {
      if (await this.#isStored(workspace)) return;
      const { tar } = await this.clones.open(session, repository);
      await this.#save(workspace, tar);
    });
  }

  /** Allows the session’s workspace to be sent from now on. */
  expect(session: string): void {
    this.incoming.expect(session);
  }

  /** Called once there is capacity for the session’s sandbox, which takes what is sent. */
  begin(session: string): void {
    this.incoming.begin(session);
  }

  /** Reports to the sender of the session’s workspace how its start went. */
  report(session: string, error?: AppError): void {
    this.incoming.end(session, error);
  }

  /** The session no longer needs its files: transfers in progress end. */
  end(session: string, reason: AppError): void {
    this.incoming.end(session, reason);
    this.clones.end(session);
  }

  /** Stores the initial files of a new session, which replace its workspace. */
  async seed(session: string, tar: Readable): Promise<void> {
    await this.#save(seedOf(session), tar);
  }

  /** Deletes an uploaded workspace. */
  async remove(workspace: string): Promise<void> {
    if (/^\w+$/.test(workspace)) await this.objects.remove(keyOf(workspace));
  }

  /**
   * Deletes unused archives from before a time, and the remains of aborted uploads. `used` names the others after the
   * archives were listed, so that an archive that a session begins to use meanwhile stays; undefined for all.
   */
  async removeUnused(
    used: () => Promise<ReadonlySet<string> | undefined>,
    before: number,
  ): Promise<void> {
    const found: { key: string; name: string }[] = [];
    for await (const { key, storedMs } of this.objects.list(folder)) {
      const upload = /^\w+\/([\w-]+\.tar|[\w.-]+\.part)$/.exec(key)?.[1];
      if (upload !== undefined && storedMs < before)
        found.push({ key, name: upload.replace(/\.tar$/, '') });
    }
    const kept = await used();
    if (!kept) return;
    for (const { key, name } of found) if (!kept.has(name)) await this.objects.remove(key);
  }

  async removeSeed(session: string): Promise<void> {
    await this.objects.remove(keyOf(seedOf(session)));
  }

  async #save(name: string, tar: Readable): Promise<void> {
    try {
      const through = checkTar(this.#maxMb, this.#space);
      await this.objects.put(keyOf(name), tar, { through });
    } catch (error) {
      throw storageError(error);
    }
  }

  async #isStored(name: string): Promise<boolean> {
    return (await this.objects.find(keyOf(name))) !== undefined;
  }

  async #opened(name: string): Promise<TarSource> {
    const found = await this.objects.open(keyOf(name));
    if (!found) throw noWorkspace(name);
    return { tar: found.content, bytes: found.bytes };
  }
}

const keyOf = (name: string): string => `${folder}/${name}.tar`;

const seedOf = (session: string): string => `seed-${session}`;

/** Whether it is the id of a stored archive, and not a word for another source. */
const isUpload = (workspace: string): boolean =>
  /^\w+$/.test(workspace) && workspace !== sentWorkspace && workspace !== clonedWorkspace;

const noWorkspace = (workspace: string): AppError =>
  new AppError('not_found', `There is no workspace ${workspace}: upload it first.`);

/** A new name for a stored archive. */
export const newArchiveId = (): string =>
  randomBytes(9).toString('base64url').replaceAll('-', '0').replaceAll('_', '1');

/** Passes an archive through; counts its bytes, and checks its first header and the space on the target disk. */
function checkTar(maxMb: number, space?: FreeSpace): Transform {
  let seen = 0;
  let head: Buffer | undefined = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (space) space.require().then(() => take(chunk, done), done);
      else take(chunk, done);
    },
    flush(done) {
      done(head ? notTar() : null);
    },
  });
  function take(chunk: Buffer, done: TransformCallback): void {
    seen += chunk.length;
    if (seen > maxMb * 1024 * 1024) return done(tooLarge(maxMb));
    if (head) head = Buffer.concat([head, chunk]);
    if (head && head.length >= 512) {
      if (!isTarHeader(head)) return done(notTar());
      head = undefined;
    }
    done(null, chunk);
  }
}

const tooLarge = (maxMb: number): AppError =>
  new AppError(
    'too_large',
    `The workspace is larger than ${maxMb} MiB. Leave out large files, or raise BELAY_MAX_WORKSPACE_MB.`,
  );

const brokenOff = (): AppError =>
  new AppError('cancelled', 'The workspace was not sent completely. Start a new session with it.');

const notTar = (): AppError =>
  new AppError('invalid_input', 'The workspace is not a tar archive. Upload an uncompressed one.');

/** The checksum of a tar header counts its own eight bytes as spaces; an empty archive consists of zeros. */
function isTarHeader(header: Buffer): boolean {
  const block = header.subarray(0, 512);
  if (block.every((byte) => byte === 0)) return true;
  const stated = Number.parseInt(block.toString('latin1', 148, 156).replace(/\0.*$/s, ''), 8);
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  return stated === sum;
}
