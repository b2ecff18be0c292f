import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError, errorCodes, errorFrom, ignoreError } from '@belay/protocol';
import type { MadeImages } from './made-images.js';
import type { PodImages } from './pod-images.js';

/** What compression adds to files that it cannot make smaller, in bytes. */
const overheadBytes = 2 ** 20;

/**
 * Gives each pod the layers that are unpacked over its images, and takes, once, what a build has written. Pods ask for
 * `GET /layers/PLACE` and `PUT /layer`.
 */
export class LayerExchange {
  readonly #served = new Map<string, PodImages['layers']>();
  /** By id, the MiB of a build that has sent nothing yet. */
  readonly #builds = new Map<string, number>();

  constructor(private readonly images: MadeImages | null) {}

  serve(id: string, layers: PodImages['layers']): void {
    this.#served.set(id, layers);
  }

  /** At most as much as it may write. */
  takeFrom(id: string, mb: number): void {
    this.#builds.set(id, mb);
  }

  forget(id: string): void {
    this.#served.delete(id);
    this.#builds.delete(id);
  }

  /** Never rejects. */
  async handle(id: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if (request.method === 'PUT' && request.url === '/layer') await this.#take(id, request);
      else await this.#give(id, request, response);
      if (!response.headersSent) response.writeHead(204).end();
    } catch (error) {
      const { code, message } = errorFrom(error);
      if (response.headersSent) return void response.destroy();
      response.writeHead(errorCodes[code].http, { 'content-type': 'text/plain' });
      response.end(message, () => request.destroy());
    }
  }

  async #give(id: string, { method, url }: IncomingMessage, response: ServerResponse) {
    const place = /^\/layers\/(\d+)$/.exec(url ?? '')?.[1];
    const open = method === 'GET' ? this.#served.get(id)?.[Number(place)] : undefined;
    if (!open) throw new AppError('not_found', 'This container has no such layer.');
    const layer = await open();
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    await pipeline(layer, response);
  }

  async #take(id: string, request: IncomingMessage): Promise<void> {
    const mb = this.#builds.get(id);
    if (!this.images || mb === undefined)
      throw new AppError('forbidden', 'No layer is taken from this container.');
    this.#builds.delete(id);
    const layer = bounded(mb * 2 ** 20 + overheadBytes);
    pipeline(request, layer).catch(ignoreError('who keeps the layer receives it'));
    await this.images.keepLayer(id, layer);
  }
}

/** Passes on what it gets. Fails beyond its size, in bytes. */
function bounded(most: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(data: Buffer, _, passOn) {
      bytes += data.length;
      if (bytes <= most) passOn(null, data);
      else passOn(new AppError('too_large', 'The layer is larger than what a build may write.'));
    },
  });
}
