import { createReadStream } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';

/**
 * Completes a response with one of the server’s own files; its headers are already set. HEAD gets no body. If the file
 * cannot be read, the connection is closed; if the client leaves, the file is.
 */
export function sendFile(path: string, response: ServerResponse): void {
  if (response.req.method === 'HEAD') return void response.end();
  pipeline(createReadStream(path), response, () => {});
}
