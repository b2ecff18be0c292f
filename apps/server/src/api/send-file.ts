import { createReadStream } from 'node:fs';
import type { ServerResponse } from 'node:http';

/** Completes a response with one of the server’s own files; its headers are already set. HEAD gets no body. */
export function sendFile(path: string, response: ServerResponse): void {
  if (response.req.method === 'HEAD') return void response.end();
  createReadStream(path)
    .on('error', () => response.destroy())
    .pipe(response);
}
