import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { Req, Res } from '@nestjs/common';
import {
  AppError,
  sessionContentRoutes,
  type ExportFormat,
  type TranscriptFile,
} from '@belay/protocol';
import type { Request, Response } from 'express';
import { may, seesAll } from '../../access/caller.js';
import { BlobStore } from '../../logs/blob-store.js';
import { Exports } from '../../sessions/exports.js';
import { SessionService } from '../../sessions/session.service.js';
import { Transcripts } from '../../sessions/transcripts.js';
import { TerminalLog } from '../../logs/terminal-log.js';
import { callerOf } from '../auth/access.guard.js';
import { RestController, type RouteInputs } from './rest-controller.js';
import { sendBlob } from './send-blob.js';

type Inputs = RouteInputs<typeof sessionContentRoutes>;

const exportTypes: Record<ExportFormat, string> = {
  patch: 'text/x-patch; charset=utf-8',
  zip: 'application/zip',
  bundle: 'application/x-git-bundle',
  tar: 'application/x-tar',
};

@RestController(sessionContentRoutes)
export class SessionContentsController {
  constructor(
    private readonly sessions: SessionService,
    private readonly outputs: TerminalLog,
    private readonly exports: Exports,
    private readonly blobs: BlobStore,
    private readonly transcripts: Transcripts,
  ) {}

  async terminals({
    params: { id },
  }: Inputs['terminals']): Promise<{ terminal: string; size: number }[]> {
    await this.sessions.summary(id);
    return this.outputs.list(id);
  }

  /** The bytes from `from` to `to`, as far as they exist. */
  async terminal(
    { params: { id, name }, query: { from, to } }: Inputs['terminal'],
    @Res() response: Response,
  ): Promise<void> {
    await this.sessions.summary(id);
    const size = await this.outputs.size(id, name);
    const end = Math.min(to ?? size, size);
    response.type('application/octet-stream').set('content-length', `${Math.max(0, end - from)}`);
    await pipeline(Readable.from(this.#pieces(id, name, { from, to: end })), response);
  }

  async patch(
    { params }: Inputs['patch'],
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.#send(params.id, { format: 'patch' }, { request, response });
  }

  async export(
    { params, query }: Inputs['export'],
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.#send(params.id, query, { request, response });
  }

  transcript({ params, query }: Inputs['transcript']): Promise<TranscriptFile> {
    return this.transcripts.export(params.id, query);
  }

  async blob(
    { params: { id, blob } }: Inputs['blob'],
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.sessions.summary(id);
    // Callers who see all sessions may also get a blob attached to a message that is not sent yet.
    const stored = seesAll(callerOf(request)) ? this.blobs.get(blob) : this.blobs.getOf(id, blob);
    sendBlob(blob, await stored, { request, response });
  }

  async #send(
    id: string,
    { format, commit, from }: { format: ExportFormat; commit?: string; from?: string },
    { request, response }: { request: Request; response: Response },
  ): Promise<void> {
    const { title } = await this.sessions.summary(id);
    const wake = may(callerOf(request), 'operate');
    const meta = { format, ...(commit && { commit }), ...(from && { from }) };
    const stream = await this.exports.open(id, meta, { wake });
    const name = title.replaceAll(/[^\w-]+/g, '-').slice(0, 60);
    response.attachment(`${name || id}.${format}`).set('content-type', exportTypes[format]);
    // A failure after the first byte can only be reported by truncating the body.
    await pipeline(stream, response).catch((error: unknown) => {
      if (!response.headersSent) throw error instanceof AppError ? error : unreadable();
    });
  }

  async *#pieces(
    id: string,
    name: string,
    { from, to }: { from: number; to: number },
  ): AsyncGenerator<Buffer> {
    const step = 1024 * 1024;
    for (let at = from; at < to; at += step) {
      yield await this.outputs.read(id, name, at, Math.min(at + step, to));
    }
  }
}

const unreadable = (): AppError =>
  new AppError('unavailable', 'The files could not be read from the sandbox. Try again.');
