import { errorCodes } from '../errors.js';
import type { Components } from './open-api-components.js';
import { problem, problemType } from './problem.js';
import type { Route } from './route.js';

type Json = Record<string, unknown>;

interface Failure {
  name: string;
  description: string;
  /** Whether a route can fail in this way. */
  of: (route: Route) => boolean;
}

/** The usual failures by status. Each is named for each route: generators have no types for ranges such as `4XX`. */
const failures: Record<number, Failure> = {
  400: {
    name: 'InvalidInput',
    description: 'The input is wrong; the sentence names the field.',
    of: ({ path, params, query, ownQuery, body }) =>
      [params, query, ownQuery, body].some(Boolean) || path.includes(':'),
  },
  401: {
    name: 'Unauthorized',
    description: 'The token is missing, wrong or expired.',
    of: ({ access }) => access !== 'open',
  },
  403: {
    name: 'Forbidden',
    description: 'The token does not have this right, or the user or a rule refused the call.',
    of: ({ access }) => access !== 'open',
  },
  404: {
    name: 'NotFound',
    description: 'It does not exist, or the token may not see it.',
    of: ({ path }) => path.includes(':'),
  },
  409: {
    name: 'Conflict',
    description: 'The current state does not allow this.',
    of: ({ method }) => method !== 'GET',
  },
  413: {
    name: 'TooLarge',
    description: 'The body is too large.',
    of: ({ body }) => body !== undefined,
  },
  429: {
    name: 'TooManyRequests',
    description: 'Too many requests from this caller or address, or a limit was reached.',
    of: () => true,
  },
};

/** The responses of a route: what it sends, the usual failures, and `default` for all others. */
export function responsesOf(route: Route, sent: Json, components: Components): Json {
  const { status, otherStatus } = route;
  const usual = Object.entries(failures)
    .filter(([, { of }]) => of(route))
    .map(([code, failure]) => [code, failureOf(route, failure, components)] as const);
  return {
    [status]: sent,
    ...(otherStatus && { [otherStatus]: sent }),
    ...Object.fromEntries(usual),
    default: failureOf(route, { name: 'Problem', description: whatHappened }, components),
  };
}

/** By reference, unless the route has failures of its own form. */
function failureOf(
  { failures: own }: Route,
  { name, description }: Pick<Failure, 'name' | 'description'>,
  components: Components,
): Json {
  if (!own) return { $ref: `#/components/responses/${name}` };
  const schema = own === 'text/html' ? { type: 'string' } : { type: 'object' };
  return { description, content: { ...problemContent(components), [own]: { schema } } };
}

/** The usual failures, as components of the document. */
export function problemResponses(components: Components): Json {
  const content = problemContent(components);
  const usual = Object.values(failures).map(({ name, description }): [string, Json] => [
    name,
    { description, ...(name === 'TooManyRequests' && { headers: retryAfter }), content },
  ]);
  return { ...Object.fromEntries(usual), Problem: { description: allFailures(), content } };
}

/** The content of a failure, whose schema becomes a component of the document. */
export const problemContent = (components: Components): Json => ({
  [problemType]: { schema: components.response(problem, undefined) },
});

const retryAfter = {
  'Retry-After': {
    description: 'The number of seconds after which the request may be repeated.',
    schema: { type: 'integer', format: 'int32' },
  },
};

const whatHappened = 'What happened and what to do (RFC 9457).';

function allFailures(): string {
  const codes = Object.entries(errorCodes).map(([code, { http }]) => `\`${code}\` (${http})`);
  return `${whatHappened} The codes and their statuses: ${codes.join(', ')}.`;
}
