import type { z } from 'zod';
import type { Scope } from '../access.js';
import type { SessionCommandName } from '../session-commands.js';

/** Bytes instead of JSON, sent and taken as they are; of the media type `*\/*` it is known per message only. */
export interface Bytes<M extends string = string> {
  readonly bytes: M;
}
export const bytes = <const M extends string>(mediaType: M): Bytes<M> => ({ bytes: mediaType });

/** An empty response: status 204. */
export interface Nothing {
  readonly nothing: true;
}
export const nothing: Nothing = { nothing: true };

/** Who may call a route: all, or callers of at least this scope. */
export type Access = 'open' | Scope;

export interface RouteDefinition {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute, its parameters as `:name`. */
  readonly path: `/${string}`;
  readonly summary: string;
  /** What the summary leaves out. */
  readonly description?: string;
  /** The command of a session that it carries out. */
  readonly command?: SessionCommandName;
  /** What the path’s parameters must be; any text when omitted. */
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType | Bytes | undefined;
  /** The largest body of JSON, in bytes; 256 KiB when omitted. Viewers send at most 64 KiB anywhere. */
  readonly bodyBytes?: number;
  readonly response: z.ZodType | Bytes | Nothing;
  /** Left out, it is 204 for nothing, else 200. */
  readonly status?: number;
  /** Another status with the same response. */
  readonly otherStatus?: number;
  /** Left out, GET is for the scope `view` and all else for `operate`. */
  readonly access?: Access;
  /** Whether the audit log leaves it out, because it is a read or comes too often. Default: GET and nothing else. */
  readonly unaudited?: boolean;
  /** The field of the body that names what is made, for the audit log. Default: none, only the path’s parameters. */
  readonly nameField?: string;
  /** Headers of a request that mean something here, with what they mean. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a list comes in pages, by `limit` and `after`: the header Link has the address of the next one. */
  readonly paged?: boolean;
}

export type Route<D extends RouteDefinition = RouteDefinition> = D & {
  readonly status: number;
  readonly access: Access;
  readonly unaudited: boolean;
};

/** The routes of one subject, by the name of the client’s method and of the controller’s. */
export type RouteGroup = Record<string, Route>;

/** Defines a REST route once: controller, client and the OpenAPI document follow from it (after ts-rest). */
export function route<const D extends RouteDefinition>(definition: D): Route<D> {
  const { method, response } = definition;
  return {
    status: 'nothing' in response ? 204 : 200,
    access: method === 'GET' ? 'view' : 'operate',
    unaudited: method === 'GET',
    ...definition,
  };
}

/** The path’s parameter that is a session’s id, if it has one: the caller’s access to that session is checked first. */
export const sessionParameter = ({ path }: RouteDefinition): string | undefined =>
  /^\/api\/sessions\/:(\w+)/.exec(path)?.[1] ?? (/:session\b/.test(path) ? 'session' : undefined);

/** The names of a path’s parameters, in order: `['id', 'call']` of `/api/sessions/:id/approvals/:call`. */
export type PathNames<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? [Name, ...PathNames<`/${Rest}`>]
  : P extends `${string}:${infer Name}`
    ? [Name]
    : [];

/** The path’s parameters as a handler gets them. */
export type RouteParams<R extends RouteDefinition> = R extends {
  params: infer P extends z.ZodObject;
}
  ? z.output<P>
  : { [Name in PathNames<R['path']>[number]]: string };

/** What a handler gets, parsed. Bytes are not in it: they are read from the request. */
export interface RouteInput<R extends RouteDefinition> {
  params: RouteParams<R>;
  query: R extends { query: infer Q extends z.ZodObject } ? z.output<Q> : unknown;
  body: R extends { body: infer B extends z.ZodType } ? z.output<B> : unknown;
}

/** What a handler returns; a response of bytes it writes itself. */
export type RouteResult<R extends RouteDefinition> = R['response'] extends z.ZodType
  ? z.input<R['response']>
  : void;

/** What a caller gets. */
export type RouteOutput<R extends RouteDefinition> = R['response'] extends z.ZodType
  ? z.output<R['response']>
  : R['response'] extends Bytes
    ? Uint8Array
    : void;

export const isBytes = (content: z.ZodType | Bytes | Nothing | undefined): content is Bytes =>
  content !== undefined && 'bytes' in content;

export const isSchema = (content: z.ZodType | Bytes | Nothing | undefined): content is z.ZodType =>
  content !== undefined && 'parse' in content;
