import type { IncomingMessage, ServerResponse } from 'node:http';
import { allRoutes, AppError, isNestedDeeper, isSchema, type Route } from '@belay/protocol';
import { may, type Caller } from '../access/caller.js';
import type { Identity } from './auth/identity.js';
import { readWithin } from './read-within.js';
import { routesAt } from './routes-at.js';

/** The limit of JSON bodies, unless the route sets its own. */
const usualBytes = 256 * 1024;
/** Viewers only send inputs of reading operations. */
const viewerBytes = 64 * 1024;
/** Far deeper than any input of the API, and far below what overflows a recursive reader’s stack. */
const maxDepth = 64;

const jsonRoutes = allRoutes.filter(({ body }) => isSchema(body));

/**
 * Reads JSON bodies within the limits of route and caller, by Content-Length and while bytes arrive. The body is not
 * read if the caller may not use the route, which the guard refuses. The rest of a refused body is discarded.
 */
export function jsonBodies(identity: Identity): RequestHandler {
  return async (request, _response, next) => {
    const limit = isJson(request) ? bodyLimit(request, identity.caller(request)) : 0;
    if (limit > 0) {
      request.body = await readJsonBody(request, limit);
    }
    next();
  };
}

/** The request’s JSON; undefined for an empty body. */
export async function readJsonBody(request: IncomingMessage, limit: number): Promise<unknown> {
  const bytes = await readWithin(request, limit);
  return bytes.length === 0 ? undefined : parseJson(bytes);
}

/** A request with a body that Express has not read yet. */
type RequestHandler = (
  request: IncomingMessage & { body?: unknown },
  response: ServerResponse,
  next: () => void,
) => Promise<void>;

/** JSON from outside, refused before it is parsed when it is nested too deep. Throws `invalid_input`. */
export function parseJson(bytes: Buffer): unknown {
  if (isNestedDeeper(bytes, maxDepth))
    throw new AppError('invalid_input', `The JSON is nested deeper than ${maxDepth} levels.`);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new AppError('invalid_input', `The request cannot be read: ${why}.`);
  }
}

/** Bytes that a request may send as JSON; 0 for a route without such a body, or a caller without access. */
function bodyLimit({ method, url = '' }: IncomingMessage, caller: Caller | undefined): number {
  const found = routesAt(url, jsonRoutes).find((route) => route.method === method);
  if (!found || !may(caller, found.access)) return 0;
  return caller?.scope === 'view' ? viewerBytes : bytesOf(found);
}

const bytesOf = ({ bodyBytes = usualBytes }: Route): number => bodyBytes;

const isJson = ({ headers }: IncomingMessage): boolean =>
  /^application\/json\b/i.test(headers['content-type'] ?? '');
