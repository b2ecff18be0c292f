import type { IncomingHttpHeaders } from 'node:http';
import { gptRoutes, type Route } from '@belay/protocol';
import { routesAt } from '../routes-at.js';

const routes = Object.values<Route>(gptRoutes);

/** Whether a path belongs to the API for custom GPTs, which also accepts a token as the password of basic auth. */
export const takesBasicAuth = (path: string): boolean => routesAt(path, routes).length > 0;

/**
 * Prepares the headers of requests to the API for custom GPTs: it accepts basic auth, and ignores cookies. Other
 * requests are unchanged.
 */
export function takeBasicAuth(path: string, headers: IncomingHttpHeaders): void {
  if (!takesBasicAuth(path)) return;
  delete headers.cookie;
  const encoded = /^Basic ([A-Za-z0-9+/]{1,2000}={0,2})$/i.exec(headers.authorization ?? '')?.[1];
  if (encoded === undefined) return;
  const token = /^[^:]*:(\S+)$/.exec(Buffer.from(encoded, 'base64').toString('utf8'))?.[1];
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
}
