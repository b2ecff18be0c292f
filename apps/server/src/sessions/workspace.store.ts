import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { Config } from '../config.js';
import type { OpenTar } from '../sandboxes/starter.js';
import { storageError } from '../storage/database.js';
import { Examples } from './examples.js';

/** The largest workspace that can be uploaded. */
const maxWorkspaceBytes = 2 * 1024 * 1024 * 1024;

/** Workspaces as tar archives: uploaded ones, those of the examples, and the files a fork begins with. */
@Injectable()
export class WorkspaceStore {
  private readonly folder: string;

  constructor(
    config: Config,
    private readonly examples: Examples,
  ) {
    this.folder = join(config.data, 'workspaces');
  }

  /** Streams an archive to disk; answers its id. Throws `too_large` above 2 GiB, `invalid_input` for what is no tar. */
  async upload(tar: Readable): Promise<string> {
    const id = randomBytes(9).toString('base64url').replaceAll('-', '0').replaceAll('_', '1');
    await this.save(id, tar);
    return id;
  }

  /** Throws `not_found` with a sentence when there is no such workspace. */
  async check(workspace: string | null): Promise<void> {
    if (workspace === null) return;
    if (workspace.startsWith('example:'))
      return void (await this.examples.find(workspace.slice(8)));
    if (!/^\w+$/.test(workspace) || !(await isFile(this.path(workspace)))) {
      throw new AppError('not_found', `There is no workspace ${workspace}: upload it first.`);
    }
  }

  /** What the files of a session begin with, opened when it is needed; undefined for an empty folder. */
  async source(session: string, workspace: string | null): Promise<OpenTar | undefined> {
    const seed = this.seedPath(session);
    if (await isFile(seed)) return () => Promise.resolve(createReadStream(seed));
    if (workspace === null) return undefined;
    return async () => {
      await this.check(workspace);
      const name = /^example:(.*)$/s.exec(workspace)?.[1];
      return name === undefined ? createReadStream(this.path(workspace)) : this.examples.pack(name);
    };
  }

  /** Keeps the files that a new session begins with instead of its workspace. */
  async seed(session: string, tar: Readable): Promise<void> {
    await this.save(`seed-${session}`, tar);
  }

  /** Deletes an uploaded workspace. */
  async remove(workspace: string): Promise<void> {
    if (/^\w+$/.test(workspace)) await rm(this.path(workspace), { force: true });
  }

  /** Deletes uploads from before a time that are not among those used, and what uploads left that broke off. */
  async removeUnused(used: ReadonlySet<string>, before: number): Promise<void> {
    for (const name of await readdir(this.folder).catch(() => [])) {
      const upload = /^(\w+\.tar|[\w-]+\.part)$/.exec(name)?.[1];
      if (upload === undefined || used.has(upload.replace(/\.tar$/, ''))) continue;
      const path = join(this.folder, name);
      const found = await stat(path).catch(() => undefined);
      if (found && found.mtimeMs < before) await rm(path, { force: true });
    }
  }

  async removeSeed(session: string): Promise<void> {
    await rm(this.seedPath(session), { force: true });
  }

  private async save(name: string, tar: Readable): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const unfinished = join(this.folder, `${name}.part`);
    try {
      await pipeline(tar, checkTar(), createWriteStream(unfinished, { mode: 0o600 }));
      await rename(unfinished, this.path(name));
    } catch (error) {
      await rm(unfinished, { force: true });
      throw storageError(error);
    }
  }

  private path(name: string): string {
    return join(this.folder, `${name}.tar`);
  }

  private seedPath(session: string): string {
    return this.path(`seed-${session}`);
  }
}

/** Passes an archive through; counts its bytes and looks at its first header. */
function checkTar(): Transform {
  let seen = 0;
  let head: Buffer | undefined = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      if (seen > maxWorkspaceBytes) {
        done(new AppError('too_large', 'A workspace may have at most 2 GiB; leave something out.'));
        return;
      }
      if (head) head = Buffer.concat([head, chunk]);
      if (head && head.length >= 512) {
        if (!isTarHeader(head)) return done(notTar());
        head = undefined;
      }
      done(null, chunk);
    },
    flush(done) {
      done(head ? notTar() : null);
    },
  });
}

const notTar = (): AppError =>
  new AppError('invalid_input', 'A workspace is uploaded as a tar archive, not compressed.');

/** The checksum of a tar header counts its own eight bytes as spaces; an empty archive is all zeros. */
function isTarHeader(header: Buffer): boolean {
  const block = header.subarray(0, 512);
  if (block.every((byte) => byte === 0)) return true;
  const stated = Number.parseInt(block.toString('latin1', 148, 156).replace(/\0.*$/s, ''), 8);
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  return stated === sum;
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
