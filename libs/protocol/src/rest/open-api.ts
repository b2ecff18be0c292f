import { z } from 'zod';
import { rule } from '../approvals.js';
import { evaluationSummary, evaluationTrial } from '../evaluations.js';
import { event } from '../events.js';
import { mcpServer } from '../mcp.js';
import { operations } from '../operations/index.js';
import type { Operation } from '../operation.js';
import { sessionSummary } from '../session.js';
import { api } from './api.js';
import type { InstalledOperation } from '../projections/installed-operation.js';
import { problem, problemType } from './problem.js';
import { isBytes, isSchema, type Access, type Route, type RouteDefinition } from './route.js';

type Json = Record<string, unknown>;
type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The REST routes, and each operation that a user may call, as an OpenAPI 3.1 document. */
export function openApiDocument(installed: readonly InstalledOperation[] = []): Json {
  const paths: Record<string, Json> = {};
  for (const { route, tag, name } of documentedRoutes(installed)) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = {
      operationId: `${tag}.${name}`,
      tags: [tag],
      ...operationObject(route),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Belay',
      version: '1',
      description: 'Runs AI coding agents, each in a container of its own.',
    },
    tags: [...Object.keys(api), 'operations'].map((name) => ({ name })),
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries([...named].map(([schema, name]) => [name, definitionOf(schema)])),
      headers: {
        Link: {
          description: 'The URL of the next page, as `<…>; rel="next"` (RFC 8288).',
          schema: { type: 'string' },
        },
      },
      responses: {
        TooManyRequests: {
          description: 'Too many requests from this caller, or a limit was reached.',
          headers: {
            'Retry-After': {
              description: 'The number of seconds after which the request may be repeated.',
              schema: { type: 'integer' },
            },
          },
          content: { [problemType]: { schema: reference('Problem') } },
        },
        Problem: {
          description: 'What happened and what to do (RFC 9457).',
          content: { [problemType]: { schema: reference('Problem') } },
        },
      },
    },
  };
}

/** Schemas of responses that the document defines once, by name. */
const named = new Map<z.core.$ZodType, string>([
  [sessionSummary, 'SessionSummary'],
  [event, 'Event'],
  [rule, 'Rule'],
  [mcpServer, 'McpServer'],
  [evaluationSummary, 'EvaluationSummary'],
  [evaluationTrial, 'EvaluationTrial'],
  [problem, 'Problem'],
]);

const reference = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

interface Documented {
  tag: string;
  name: string;
  route: Route;
}

/** Every route; the one that calls operations is replaced by a route for each operation. */
function documentedRoutes(installed: readonly InstalledOperation[]): Documented[] {
  const routes = Object.entries(api).flatMap(([tag, group]) =>
    Object.entries<Route>(group).flatMap(([name, route]): Documented[] =>
      route === api.sessions.call ? operationRoutes() : [{ tag, name, route }],
    ),
  );
  return [...routes, ...installed.map(installedRoute)];
}

function operationRoutes(): Documented[] {
  return Object.values<Operation>(operations)
    .filter(({ audience }) => audience.includes('user'))
    .map(({ name, title, description, audience, input, output }) => ({
      tag: 'operations',
      name,
      route: {
        ...api.sessions.call,
        path: `/api/sessions/:id/operations/${name}`,
        summary: title,
        description,
        access: audience.includes('viewer') ? 'view' : 'operate',
        body: input,
        response: output,
      },
    }));
}

/** The route that calls an installed action or tool without a session, with the schema of its manifest or server. */
function installedRoute({ operation, tool, path }: InstalledOperation): Documented {
  const { id: _, $id: __, $schema: ___, ...schema } = tool.parameters;
  return {
    tag: 'actions',
    name: `call.${operation.name}`,
    route: {
      ...api.actionCalls.call,
      path,
      summary: operation.title,
      description: tool.description,
      // A reference in the schema would resolve within this document.
      body: z.record(z.string(), z.unknown()).meta(hasReference(schema) ? {} : schema),
      response: operation.output,
    },
  };
}

const hasReference = (schema: Json): boolean => JSON.stringify(schema).includes('"$ref"');

function operationObject({ description, ...route }: Documented['route']): Json {
  const { summary, access, body, response, status, otherStatus, paged } = route;
  const content =
    (isSchema(response) && { 'application/json': { schema: responseOf(response) } }) ||
    (isBytes(response) && { [response.bytes]: {} });
  const sent = {
    description: summary,
    ...(paged && { headers: { Link: { $ref: '#/components/headers/Link' } } }),
    ...(content && { content }),
  };
  const more = [description, tokens[access]].filter(Boolean).join('\n\n');
  return {
    summary,
    ...(more && { description: more }),
    ...(access === 'open' && { security: [] }),
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)],
    ...(body && { requestBody: requestBody(body) }),
    responses: {
      [status]: sent,
      ...(otherStatus && { [otherStatus]: sent }),
      ...(access !== 'open' && { '429': { $ref: '#/components/responses/TooManyRequests' } }),
      '4XX': { $ref: '#/components/responses/Problem' },
      '5XX': { $ref: '#/components/responses/Problem' },
    },
  };
}

const tokens: Record<Access, string> = {
  open: 'Needs no token.',
  view: 'Needs only the scope `view`.',
  operate: '',
  admin: 'Needs the scope `admin`.',
};

function requestBody(body: NonNullable<RouteDefinition['body']>): Json {
  const content = isBytes(body)
    ? { [body.bytes]: {} }
    : { 'application/json': { schema: requestOf(body) } };
  return { required: true, content };
}

export function pathParameters({ path, params }: Route): Json[] {
  const schemas = params && requestOf(params).properties;
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: schemas?.[name] ?? { type: 'string' },
  }));
}

export function queryParameters({ query }: Route): Json[] {
  if (!query) return [];
  const { properties = {}, required = [] } = requestOf(query);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

function headerParameters({ method, body, headers }: Route): Json[] {
  const takesKey = method === 'POST' && !isBytes(body);
  const all = { ...headers, ...(takesKey && { 'Idempotency-Key': idempotency }) };
  return Object.entries(all).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
}

const idempotency =
  'Up to 200 visible ASCII characters of your choice. Within a day, the same request with the same key is carried out only once and gets the same response.';

/** The JSON Schema of what a caller sends. */
export const requestOf = (schema: z.ZodType): JsonSchema =>
  withoutDialect(z.toJSONSchema(schema, { io: 'input' }));

/** The JSON Schema of a response. */
function responseOf(schema: z.ZodType): Json {
  const name = named.get(schema);
  return name === undefined ? definitionOf(schema) : reference(name);
}

/** The definition in full, except for inner schemas that the document names. */
function definitionOf(schema: z.core.$ZodType): Json {
  const definition = z.toJSONSchema(schema, {
    override: ({ zodSchema, jsonSchema, path }) => {
      const name = named.get(zodSchema);
      if (name === undefined || path.length === 0) return;
      for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
      Object.assign(jsonSchema, reference(name));
    },
  });
  return withoutDialect(definition);
}

/** OpenAPI 3.1 already implies the dialect that zod names. */
const withoutDialect = (schema: JsonSchema): JsonSchema => ({ ...schema, $schema: undefined });
