import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { Body, Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { AppError, approvalAnswer } from '@belay/protocol';
import type { Request, Response } from 'express';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { ApprovalService } from '../approvals/approval.service.js';
import { BlobStore } from '../logs/blob-store.js';
import { Dispatcher } from '../sessions/dispatcher.js';
import { Exports, type ExportFormat } from '../sessions/exports.js';
import { SessionService } from '../sessions/session.service.js';
import { TerminalLog } from '../logs/terminal-log.js';
import { ViewersToo } from './access.js';
import { Identity } from './identity.js';
import { sendBlob } from './send-blob.js';

class AnswerBody extends createZodDto(approvalAnswer) {}
class RangeQuery extends createZodDto(
  z.object({
    from: z.coerce.number().int().nonnegative().default(0),
    to: z.coerce.number().int().nonnegative().optional(),
  }),
) {}
class ExportQuery extends createZodDto(
  z.object({
    format: z.enum(['patch', 'zip', 'bundle', 'tar']),
    commit: z
      .string()
      .regex(/^[0-9a-f]{7,40}$/)
      .optional(),
  }),
) {}

const exportTypes: Record<ExportFormat, string> = {
  patch: 'text/x-patch; charset=utf-8',
  zip: 'application/zip',
  bundle: 'application/x-git-bundle',
  tar: 'application/x-tar',
};

@Controller('api/sessions/:id')
export class SessionContentsController {
  constructor(
    private readonly sessions: SessionService,
    private readonly dispatcher: Dispatcher,
    private readonly approvals: ApprovalService,
    private readonly terminals: TerminalLog,
    private readonly exports: Exports,
    private readonly blobs: BlobStore,
    private readonly identity: Identity,
  ) {}

  /** A person's call of an operation; closing the request cancels it. */
  @Post('operations/:name')
  @HttpCode(200)
  @ViewersToo()
  async call(
    @Param() { id, name }: { id: string; name: string },
    @Body() input: unknown,
    @Req() { headers }: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<unknown> {
    const gone = new AbortController();
    response.once('close', () => response.writableFinished || gone.abort());
    const role = this.identity.role(headers) ?? 'viewer';
    return this.dispatcher.call(id, { name, input: input ?? {}, role }, gone.signal);
  }

  @Post('approvals/:call')
  @HttpCode(204)
  async answer(
    @Param() { id, call }: { id: string; call: string },
    @Body() body: AnswerBody,
  ): Promise<void> {
    await this.approvals.answer(id, call, body);
  }

  @Get('terminals')
  async listTerminals(@Param('id') id: string): Promise<{ terminal: string; size: number }[]> {
    await this.sessions.summary(id);
    return this.terminals.list(id);
  }

  /** Bytes `from` up to `to`, or what is there now. */
  @Get('terminals/:name')
  async terminal(
    @Param() { id, name }: { id: string; name: string },
    @Query() { from, to }: RangeQuery,
    @Res() response: Response,
  ): Promise<void> {
    await this.sessions.summary(id);
    const size = await this.terminals.size(id, name);
    const end = Math.min(to ?? size, size);
    response.type('application/octet-stream').set('content-length', `${Math.max(0, end - from)}`);
    await pipeline(Readable.from(this.pieces(id, name, { from, to: end })), response);
  }

  @Get('patch')
  async patch(
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.send(id, { format: 'patch' }, { request, response });
  }

  @Get('export')
  async export(
    @Param('id') id: string,
    @Query() query: ExportQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.send(id, query, { request, response });
  }

  @Get('blobs/:blob')
  async blob(
    @Param() { id, blob }: { id: string; blob: string },
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    await this.sessions.summary(id);
    await sendBlob(this.blobs, blob, { request, response });
  }

  private async send(
    id: string,
    { format, commit }: { format: ExportFormat; commit?: string },
    { request, response }: { request: Request; response: Response },
  ): Promise<void> {
    const { title } = await this.sessions.summary(id);
    const wake = this.identity.role(request.headers) === 'person';
    const meta = { format, ...(commit && { commit }) };
    const stream = await this.exports.open(id, meta, { wake });
    const name = title.replaceAll(/[^\w-]+/g, '-').slice(0, 60);
    response.attachment(`${name || id}.${format}`).set('content-type', exportTypes[format]);
    // What breaks after the first byte can only be shown by a body that is cut off.
    await pipeline(stream, response).catch((error: unknown) => {
      if (!response.headersSent) throw error instanceof AppError ? error : unreadable();
    });
  }

  private async *pieces(
    id: string,
    name: string,
    { from, to }: { from: number; to: number },
  ): AsyncGenerator<Buffer> {
    const step = 1024 * 1024;
    for (let at = from; at < to; at += step) {
      yield await this.terminals.read(id, name, at, Math.min(at + step, to));
    }
  }
}

const unreadable = (): AppError =>
  new AppError('unavailable', 'The files could not be read from the sandbox; try again.');
