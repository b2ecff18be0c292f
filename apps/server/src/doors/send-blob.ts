import type { Request, Response } from 'express';
import type { BlobStore } from '../logs/blob-store.js';

/** Types that a browser may show; everything else is only offered for download. */
const shown = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);

/** Answers with a blob, which never changes; throws `not_found`. */
export async function sendBlob(
  blobs: BlobStore,
  blob: string,
  { request, response }: { request: Request; response: Response },
): Promise<void> {
  const { type, bytes } = await blobs.get(blob);
  response.set('cache-control', 'private, max-age=31536000, immutable').set('etag', `"${blob}"`);
  if (request.fresh) return void response.status(304).end();
  if (!shown.has(type)) response.attachment(blob);
  response.type(shown.has(type) ? type : 'application/octet-stream').end(bytes);
}
