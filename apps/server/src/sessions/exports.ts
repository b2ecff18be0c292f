import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import { AppError, type StreamMeta } from '@belay/protocol';
import { Config } from '../config.js';
import { SandboxService } from '../sandboxes/sandbox.service.js';
import { Launcher } from './launcher.js';

export type ExportFormat = StreamMeta<'workspace.export'>['format'];

/** How long the end of a session waits for its patch. */
const patchMs = 20_000;

/** What a session leaves: its changes and its files, from its agent or as they were kept at its end. */
@Injectable()
export class Exports {
  private readonly folder: string;

  constructor(
    config: Config,
    private readonly sandboxes: SandboxService,
    private readonly launcher: Launcher,
  ) {
    this.folder = join(config.data, 'patches');
  }

  /**
   * The session's files in one format; up to a commit of its history, or the latest. Without a sandbox there is the
   * patch that was kept; for more one is started when `wake` allows it, else that is `forbidden`.
   */
  async open(
    session: string,
    meta: StreamMeta<'workspace.export'>,
    { wake }: { wake: boolean },
  ): Promise<Readable> {
    if (this.sandboxes.agent(session)) return this.fromAgent(session, meta);
    const kept = this.path(session);
    if (meta.format === 'patch' && !meta.commit && (await isFile(kept))) {
      return createReadStream(kept);
    }
    if (!wake) throw new AppError('forbidden', asleep);
    await this.launcher.wake(session);
    return this.fromAgent(session, meta);
  }

  /** Keeps the patch of a session that ends, for the time when its sandbox is gone. */
  async keepPatch(session: string): Promise<void> {
    if (!this.sandboxes.agent(session)) return;
    const stream = await this.fromAgent(session, { format: 'patch' });
    const unfinished = `${this.path(session)}.${randomUUID()}`;
    await mkdir(this.folder, { recursive: true });
    const file = createWriteStream(unfinished, { mode: 0o600 });
    try {
      await pipeline(stream, file, { signal: AbortSignal.timeout(patchMs) });
      await rename(unfinished, this.path(session));
    } finally {
      await rm(unfinished, { force: true });
    }
  }

  async remove(session: string): Promise<void> {
    await rm(this.path(session), { force: true });
  }

  private async fromAgent(
    session: string,
    meta: StreamMeta<'workspace.export'>,
  ): Promise<Readable> {
    const link = this.sandboxes.agent(session);
    if (!link) {
      throw new AppError('unavailable', 'The sandbox is gone: restart the session for its files.');
    }
    const stream = await link.open('workspace.export', meta);
    stream.end();
    return stream;
  }

  private path(session: string): string {
    if (!/^[\w-]+$/.test(session)) throw new AppError('not_found', 'There is no such session.');
    return join(this.folder, `${session}.patch`);
  }
}

const asleep =
  'The sandbox of this session has ended, and only a person may start it again to read its files.';

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
