import { once } from 'node:events';
import { request, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress } from 'node:zlib';
import type { AgentEnvironment } from '../environment.js';

/** Sends what a build has written to its host. Rejects unless the host has kept it. */
export async function sendLayer(
  layer: Readable,
  { connection, token, authority }: Pick<AgentEnvironment, 'connection' | 'token' | 'authority'>,
): Promise<void> {
  const { hostname, port } = new URL(connection);
  const options: RequestOptions = {
    host: hostname.replaceAll(/[[\]]/g, ''),
    port,
    path: '/layer',
    method: 'PUT',
    ca: authority,
    agent: false,
    headers: { authorization: `Bearer ${token}` },
  };
  const sent = request(options);
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  const [[response]] = await Promise.all([answered, pipeline(layer, createZstdCompress(), sent)]);
  const said = await text(response);
  if (response.statusCode !== 204)
    throw new Error(`The host does not keep the image: ${said || response.statusCode}.`);
}
