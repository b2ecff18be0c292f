import type { z } from 'zod';
import type { Scope } from '../access.js';
import type { SessionCommandName } from '../session-commands.js';

/** Bytes instead of JSON, sent and received unchanged; with the media type `*\/*`, each message names its own. */
export interface Bytes<M extends string = string> {
  readonly bytes: M;
  /** What the bytes contain, for the document: the handler reads them itself. */
  readonly schema?: z.ZodType | undefined;
  /** Other media types of the same content. */
  readonly or?: readonly string[] | undefined;
}
export const bytes = <const M extends string>(
  mediaType: M,
  more: Pick<Bytes, 'schema' | 'or'> = {},
): Bytes<M> => ({ bytes: mediaType, ...more });

/** A tar archive, which clients without a type for it send as bytes of any kind. */
export const tarArchive = bytes('application/x-tar', { or: ['application/octet-stream'] });

/** An empty response: status 204. */
export interface Nothing {
  readonly nothing: true;
}
export const nothing: Nothing = { nothing: true };

/** Who may call a route: everyone, or callers with at least this scope. */
export type Access = 'open' | Scope;

/**
 * What a route is about, which decides whether callers that do not see all sessions may use it:
 * - `caller`: the caller itself and the sessions that it sees, by which the handler filters. For every caller.
 * - `starting`: what sessions are started with. For callers that may start sessions.
 * - `server`: anything else. For callers that see all sessions.
 */
export type RouteSubject = 'caller' | 'starting' | 'server';

export interface RouteDefinition {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute, with parameters as `:name`. */
  readonly path: `/${string}`;
  readonly summary: string;
  /** Details that the summary leaves out. */
  readonly description?: string;
  /** The session’s command that the route carries out. */
  readonly command?: SessionCommandName;
  /** The schema of the path’s parameters; any text when omitted. */
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** A query that the handler parses itself, for the document. */
  readonly ownQuery?: z.ZodObject;
  readonly body?: z.ZodType | Bytes | undefined;
  /** The largest JSON body, in bytes; 256 KiB when omitted. Viewers may send at most 64 KiB to any route. */
  readonly bodyBytes?: number;
  readonly response: z.ZodType | Bytes | Nothing;
  /** Default: 204 for an empty response, otherwise 200. */
  readonly status?: number;
  /** Another status with the same response. */
  readonly otherStatus?: number;
  /** Default: `view` for GET, otherwise `operate`. */
  readonly access?: Access;
  /** Default: `caller` for a route of one session, which is checked itself, otherwise `server`. */
  readonly about?: RouteSubject;
  /** Whether the audit log omits it, because it only reads or is called too often. Default: true only for GET. */
  readonly unaudited?: boolean;
  /** Whether its work may end the access of its own caller, who still gets the response. Default: false. */
  readonly endsAccess?: boolean;
  /** The body’s field with the name of the created item, for the audit log. Default: none, only the path’s parameters. */
  readonly nameField?: string;
  /** Request headers that the route uses. */
  readonly headers?: Readonly<Record<string, z.ZodType>>;
  /** The media type of the route’s own failures, unless they are problem documents. */
  readonly failures?: 'application/json' | 'text/html';
  /** Whether a list comes in pages, by `limit` and `after`: the header Link has the URL of the next one. */
  readonly paged?: boolean;
}

export type Route<D extends RouteDefinition = RouteDefinition> = D & {
  readonly status: number;
  readonly access: Access;
  readonly about: RouteSubject;
  readonly unaudited: boolean;
};

/** The routes of one subject, by the names of the methods of client and controller. */
export type RouteGroup = Record<string, Route>;

/** Defines a REST route once: controller, client and the OpenAPI document follow from it (after ts-rest). */
export function route<const D extends RouteDefinition>(definition: D): Route<D> {
  const { method, response } = definition;
  return {
    status: 'nothing' in response ? 204 : 200,
    access: method === 'GET' ? 'view' : 'operate',
    about: sessionParameter(definition) === undefined ? 'server' : 'caller',
    unaudited: method === 'GET',
    ...definition,
  };
}

/** The path’s parameter with a session’s id, if there is one: the caller’s access to that session is checked first. */
export const sessionParameter = ({ path }: RouteDefinition): string | undefined =>
  /^\/api\/sessions\/:(\w+)/.exec(path)?.[1] ?? (/:session\b/.test(path) ? 'session' : undefined);

/** The names of a path’s parameters, in order: `['id', 'call']` of `/api/sessions/:id/approvals/:call`. */
export type PathNames<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? [Name, ...PathNames<`/${Rest}`>]
  : P extends `${string}:${infer Name}`
    ? [Name]
    : [];

/** The path’s parameters, as passed to a handler. */
export type RouteParams<R extends RouteDefinition> = R extends {
  params: infer P extends z.ZodObject;
}
  ? z.output<P>
  : { [Name in PathNames<R['path']>[number]]: string };

/** A handler’s parsed input. It has no bytes: they are read from the request. */
export interface RouteInput<R extends RouteDefinition> {
  params: RouteParams<R>;
  query: R extends { query: infer Q extends z.ZodObject } ? z.output<Q> : unknown;
  body: R extends { body: infer B extends z.ZodType } ? z.output<B> : unknown;
}

/** A handler’s result; it writes a response of bytes itself. */
export type RouteResult<R extends RouteDefinition> = R['response'] extends z.ZodType
  ? z.input<R['response']>
  : void;

/** The response, as a caller gets it. */
export type RouteOutput<R extends RouteDefinition> = R['response'] extends z.ZodType
  ? z.output<R['response']>
  : R['response'] extends Bytes
    ? Uint8Array
    : void;

export const isBytes = (content: z.ZodType | Bytes | Nothing | undefined): content is Bytes =>
  content !== undefined && 'bytes' in content;

export const isSchema = (content: z.ZodType | Bytes | Nothing | undefined): content is z.ZodType =>
  content !== undefined && 'parse' in content;
