import type { Request, Response } from 'express';
import type { StoredBlob } from '../../logs/blob-store.js';

/** Types that a browser may display; all others are downloads. */
const shown = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);

/** Sends a blob; its content never changes, so it may be cached. */
export function sendBlob(
  blob: string,
  { type, bytes }: StoredBlob,
  { request, response }: { request: Request; response: Response },
): void {
  response.set('cache-control', 'private, max-age=31536000, immutable').set('etag', `"${blob}"`);
  if (request.fresh) return void response.status(304).end();
  if (!shown.has(type)) response.attachment(blob);
  response.type(shown.has(type) ? type : 'application/octet-stream').end(bytes);
}
