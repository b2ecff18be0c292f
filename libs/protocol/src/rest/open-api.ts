import type { Operation } from '../operation.js';
import { operations } from '../operations/index.js';
import type { InstalledOperation } from '../projections/installed-operation.js';
import { toolName } from '../projections/model-tool.js';
import { api } from './api.js';
import { Components } from './open-api-components.js';
import { problemResponses, responsesOf } from './open-api-responses.js';
import { idempotencyKey } from './idempotency-key.js';
import { published, schemaOf, type PublishedSchema } from './published-schema.js';
import { isBytes, isSchema, type Access, type Bytes, type Route } from './route.js';
import { tags } from './tags.js';

type Json = Record<string, unknown>;

/**
 * The REST routes, and each operation that a user may call, as an OpenAPI 3.1 document. Its relative address is to be
 * replaced by the one at which the reader reaches this server.
 */
export function openApiDocument(installed: readonly InstalledOperation[] = []): Json {
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const documented of documentedRoutes(installed)) {
    const { route, tag, name } = documented;
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = {
      operationId: `${tag}.${name}`,
      tags: [tag],
      ...operationObject(documented, components),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Belay',
      version: '1',
      description: 'Runs AI coding agents, each in a container of its own.',
      contact: { name: 'The administrator of this server' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      headers: {
        Link: {
          description: 'The URL of the next page, as `<…>; rel="next"` (RFC 8288).',
          schema: { type: 'string' },
        },
      },
      responses: problemResponses(components),
      schemas: components.schemas,
    },
  };
}

interface Documented {
  tag: keyof typeof api;
  name: string;
  route: Route;
  /** The beginning of the names of its request and response; without it, they have none. */
  types?: string;
}

/** Every route; the one that calls operations is replaced by a route for each operation. */
function documentedRoutes(installed: readonly InstalledOperation[]): Documented[] {
  const routes = Object.entries(api).flatMap(([group, all]) =>
    Object.entries<Route>(all).flatMap(([name, route]): Documented[] => {
      const tag = group as keyof typeof api;
      if (route === api.sessions.call) return operationRoutes();
      return [{ tag, name, route, types: inPascalCase(`${tag}.${name}`) }];
    }),
  );
  return [...routes, ...installed.map(installedRoute)];
}

function operationRoutes(): Documented[] {
  return Object.values<Operation>(operations)
    .filter(({ audience }) => audience.includes('user'))
    .map(({ name, title, description, audience, input, output }) => ({
      tag: 'operations',
      name,
      types: inPascalCase(`operation_${toolName(name)}`),
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
  const { id: _, $id: __, ...schema } = tool.parameters;
  return {
    tag: 'actions',
    name: `call.${operation.name}`,
    route: {
      ...api.actionCalls.call,
      path,
      summary: operation.title,
      description: tool.description,
      // A reference in the schema would resolve within this document.
      body: api.actionCalls.call.body.meta(
        hasReference(schema) ? {} : published(schema, 'request'),
      ),
      response: operation.output,
    },
  };
}

const hasReference = (schema: Json): boolean => JSON.stringify(schema).includes('"$ref"');

const inPascalCase = (name: string): string =>
  name
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

function operationObject({ route, types }: Documented, components: Components): Json {
  const { summary, description, access, body, response, paged } = route;
  const content = isBytes(response)
    ? bytesContent(response)
    : isSchema(response) && json(components.response(response, types && `${types}Output`));
  const sent = {
    description: summary,
    ...(paged && { headers: { Link: { $ref: '#/components/headers/Link' } } }),
    ...(content && { content }),
  };
  const details = [description ?? `${summary}.`, tokens[access]].filter(Boolean);
  return {
    summary,
    description: details.join('\n\n'),
    ...(access === 'open' && { security: [] }),
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)],
    ...(body && {
      requestBody: {
        required: true,
        content: isBytes(body)
          ? bytesContent(body)
          : json(components.request(body, types && `${types}Request`)),
      },
    }),
    responses: responsesOf(route, sent, components),
  };
}

const json = (schema: PublishedSchema): Json => ({ 'application/json': { schema } });

const tokens: Record<Access, string> = {
  open: 'Needs no token.',
  view: 'Needs only the scope `view`.',
  operate: '',
  admin: 'Needs the scope `admin`.',
};

/** Each media type has a schema: without one, generators leave a route out, or drop what it returns. */
function bytesContent({ bytes, schema, or = [] }: Bytes): Json {
  const types = bytes === '*/*' ? ['application/octet-stream', bytes] : [bytes, ...or];
  return Object.fromEntries(
    types.map((type, at) => {
      const [name = type] = type.split(';', 1);
      return [name, { schema: at === 0 && schema ? schemaOf(schema, 'request') : textOf(name) }];
    }),
  );
}

function textOf(mediaType: string): PublishedSchema {
  // A schema is that of the parsed value.
  if (mediaType.includes('yaml')) return { type: 'object' };
  const isText = /^text\/(?!x-patch)/.test(mediaType);
  return isText ? { type: 'string' } : { type: 'string', format: 'binary' };
}

export function pathParameters({ path, params }: Route): Json[] {
  const schemas = params && propertiesOf(schemaOf(params, 'request'));
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: schemas?.[name] ?? { type: 'string' },
  }));
}

export function queryParameters({ query, ownQuery }: Route): Json[] {
  const all = query ?? ownQuery;
  if (!all) return [];
  const definition = schemaOf(all, 'request');
  const required = definition['required'] as string[] | undefined;
  return Object.entries(propertiesOf(definition)).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required?.includes(name) ?? false,
    ...(description !== undefined && { description }),
    schema,
  }));
}

const propertiesOf = ({ properties = {} }: PublishedSchema): Record<string, PublishedSchema> =>
  properties as Record<string, PublishedSchema>;

function headerParameters({ method, body, headers }: Route): Json[] {
  const takesKey = method === 'POST' && !isBytes(body);
  const all = { ...headers, ...(takesKey && { 'Idempotency-Key': idempotencyKey }) };
  return Object.entries(all).map(([name, definition]) => {
    const { description, ...schema } = schemaOf(definition, 'request');
    return { name, in: 'header', required: false, description, schema };
  });
}
