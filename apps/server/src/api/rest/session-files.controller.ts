import { pipeline } from 'node:stream/promises';
import { Req, Res } from '@nestjs/common';
import {
  AppError,
  problemOf,
  problemType,
  sessionFileRoutes,
  type OperationOutput,
} from '@belay/protocol';
import { Semaphore } from 'async-mutex';
import type { Request, Response } from 'express';
import { Dispatcher } from '../../sessions/dispatcher.js';
import { SessionFiles } from '../../sessions/session-files.js';
import { callerOf } from '../auth/access.guard.js';
import { readWithin } from '../read-within.js';
import { byteRange } from './byte-range.js';
import { abortedOnClose } from './aborted-on-close.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof sessionFileRoutes>;

const maxFileBytes = 50_000_000;
/** A file that is being written is in memory as a whole, both as bytes and as text. */
const writesAtOnce = new Semaphore(4);

@RestController(sessionFileRoutes)
export class SessionFilesController {
  constructor(
    private readonly files: SessionFiles,
    private readonly dispatcher: Dispatcher,
  ) {}

  async file(
    { params, query }: Inputs['file'],
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const signal = abortedOnClose(response);
    const caller = callerOf(request);
    const opened = await this.files.open(params.id, query.path, { caller, signal });
    const { size, version } = opened;
    const etag = version === null ? undefined : `"${version}"`;
    const condition = request.headers['if-range'];
    const isSame = condition === undefined || condition === etag;
    const range = isSame ? byteRange(request.headers.range, size) : undefined;
    response.attachment(query.path.split('/').at(-1)).type('application/octet-stream');
    response.set({ 'accept-ranges': 'bytes', ...(etag && { etag }) });
    if (range === null) return unsatisfiable(response, size);
    const { from, to } = range ?? { from: 0, to: size };
    if (range) response.status(206).set('content-range', `bytes ${from}-${to - 1}/${size}`);
    response.set('content-length', String(to - from));
    if (request.method === 'HEAD') return void response.end();
    // A failure after the first byte can only be reported by truncating the body.
    await pipeline(opened.bytes(from, to), response).catch((error: unknown) => {
      if (!response.headersSent) throw error;
    });
  }

  async saveFile(
    { params, query }: Inputs['saveFile'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<OperationOutput<'files.write'>> {
    const signal = abortedOnClose(response);
    const file = { ...query, ...condition(request) };
    return writesAtOnce.runExclusive(async () => {
      const content = await readWithin(request, maxFileBytes);
      const access = { caller: callerOf(request), signal };
      const written = await this.files.save(params.id, { ...file, content }, access);
      if (written.version !== null) response.set('etag', `"${written.version}"`);
      return written;
    });
  }

  history(
    { params, query }: Inputs['history'],
    @Req() request: Request,
  ): Promise<OperationOutput<'workspace.log'>> {
    const call = { name: 'workspace.log', input: query, caller: callerOf(request) } as const;
    return this.dispatcher.call(params.id, call);
  }
}

/** The condition on the file’s current version before it is written. */
function condition({ headers }: Request): { version?: string | null } {
  if (headers['if-none-match']?.trim() === '*') return { version: null };
  const expected = headers['if-match']?.trim();
  if (expected === undefined || expected === '*') return {};
  const version = /^"([0-9a-f]{16})"$/.exec(expected)?.[1];
  if (version !== undefined) return { version };
  const remedy = 'Send the ETag of an earlier response, with its quotes.';
  throw new AppError('invalid_input', `If-Match is not a version of a file. ${remedy}`);
}

function unsatisfiable(response: Response, size: number): void {
  const error = new AppError(
    'invalid_input',
    `The file has ${size} bytes, and none in that range.`,
  );
  const problem = { ...problemOf(error), status: 416 };
  response.removeHeader('content-disposition');
  response.status(416).set('content-range', `bytes */${size}`);
  response.type(problemType).send(JSON.stringify(problem));
}
