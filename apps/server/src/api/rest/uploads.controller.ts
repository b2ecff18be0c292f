import { PassThrough, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Req } from '@nestjs/common';
import { AppError, api } from '@belay/protocol';
import type { Request } from 'express';
import { AttachedPictures } from '../../logs/attached-pictures.js';
import { maxBlobBytes } from '../../logs/blob-store.js';
import { WorkspaceStore } from '../../sessions/workspace.store.js';
import { callerOf } from '../auth/access.guard.js';
import { RestController, type RouteInputs } from './rest-controller.js';
import { refuseSlowSender } from './slow-sender.js';

type Inputs = RouteInputs<typeof api.uploads>;

@RestController(api.uploads)
export class UploadsController {
  constructor(
    private readonly workspaces: WorkspaceStore,
    private readonly pictures: AttachedPictures,
  ) {}

  async workspace(
    _input: Inputs['workspace'],
    @Req() request: Request,
  ): Promise<{ workspace: string }> {
    const caller = callerOf(request);
    return { workspace: await received(request, (tar) => this.workspaces.upload(caller, tar)) };
  }

  toSession({ params, query }: Inputs['toSession'], @Req() request: Request): Promise<void> {
    return received(request, (tar) => this.workspaces.send(params.id, tar, query.bytes));
  }

  async blob(_input: Inputs['blob'], @Req() request: Request): Promise<{ blob: string }> {
    const stated = Number(request.headers['content-length'] ?? Number.NaN);
    if (!(stated <= maxBlobBytes)) {
      throw new AppError('too_large', 'An upload needs a Content-Length of at most 16 MiB.');
    }
    if (stated === 0) {
      throw new AppError('invalid_input', 'The upload is empty. Send the bytes of a file.');
    }
    const type = request.headers['content-type'] ?? '';
    const bytes = await buffer(request);
    return { blob: await this.pictures.upload(callerOf(request), bytes, type) };
  }
}

/** A failing pipeline would destroy the request, and with it the connection of the response. */
async function received<T>(request: Request, use: (tar: Readable) => Promise<T>): Promise<T> {
  const tar = request.pipe(new PassThrough());
  request.once('error', (error) => tar.destroy(error));
  const endWatch = refuseSlowSender(request, tar);
  try {
    return await use(tar);
  } catch (error) {
    // Done before the pipe ends, which would pause the request again.
    request.unpipe(tar).resume();
    tar.destroy();
    throw error;
  } finally {
    endWatch();
  }
}
