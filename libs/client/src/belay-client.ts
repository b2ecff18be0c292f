import type {
  api,
  Bytes,
  OperationName,
  OperationOutput,
  OperationRequest,
  PathNames,
  Route,
  RouteGroup,
  RouteOutput,
} from '@belay/protocol';
import type { z } from 'zod';

/**
 * The REST routes as functions, in the same structure as `api`. Arguments are the path’s parameters in order, then the
 * body, then the query. Every call rejects with `AppError`, rebuilt from the problem document.
 */
export type BelayClient = {
  [Group in keyof Api]: GroupClient<Api[Group]>;
} & { sessions: OperationCalls };

type Api = Omit<typeof api, 'sessions'> & { sessions: Omit<(typeof api)['sessions'], 'call'> };

/** The only route whose types depend on the called operation. */
export interface OperationCalls {
  /** A user’s call of an operation; its output is validated. */
  call<N extends OperationName>(
    id: string,
    operation: N,
    input: OperationRequest<N>,
  ): Promise<OperationOutput<N>>;
  /** A call of an operation that the session was given: an installed action, or a tool of an MCP server. */
  callGiven(id: string, operation: string, input: Record<string, unknown>): Promise<unknown>;
}

type GroupClient<G extends RouteGroup> = { [Name in keyof G]: RouteCall<G[Name]> };

type RouteCall<R extends Route> = (
  ...input: [...PathArguments<R, PathNames<R['path']>>, ...BodyArguments<R>, ...QueryArguments<R>]
) => Promise<RouteOutput<R>>;

type PathArguments<R extends Route, Names extends readonly unknown[]> = Names extends readonly [
  infer Name,
  ...infer Rest,
]
  ? [PathArgument<R, Name>, ...PathArguments<R, Rest>]
  : [];

type PathArgument<R extends Route, Name> = R extends { params: infer P extends z.ZodObject }
  ? z.input<P>[Name & keyof z.input<P>]
  : string;

type Content = Uint8Array | ReadableStream<Uint8Array> | Blob;

type BodyArguments<R extends Route> = R extends { body: infer B extends z.ZodType | Bytes }
  ? B extends z.ZodType
    ? [body: z.input<B>]
    : B extends Bytes<'*/*'>
      ? [content: Content, mediaType: string]
      : [content: Content]
  : [];

type QueryArguments<R extends Route> = R extends { query: infer Q extends z.ZodObject }
  ? Partial<z.input<Q>> extends z.input<Q>
    ? [query?: z.input<Q>]
    : [query: z.input<Q>]
  : [];
