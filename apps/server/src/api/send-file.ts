import { createReadStream } from 'node:fs';
import type { ServerResponse } from 'node:http';

/** Ends a response whose headers are set with a file of the server’s own; for HEAD without. */
export function sendFile(path: string, response: ServerResponse): void {
  if (response.req.method === 'HEAD') return void response.end();
  createReadStream(path)
    .on('error', () => response.destroy())
    .pipe(response);
}
