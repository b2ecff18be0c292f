import type { Operation } from '../operation.js';
import { operations } from '../operations/index.js';
import { modelTool, toolName } from '../projections/model-tool.js';
import { gptRoutes } from './gpt.js';
import { Components } from './open-api-components.js';
import { problemContent } from './open-api-responses.js';
import { pathParameters, queryParameters } from './open-api.js';
import { schemaOf } from './published-schema.js';
import { isBytes, isSchema, type Route } from './route.js';

type Json = Record<string, unknown>;

/** The limits of ChatGPT for a schema. */
export const gptLimits = { operations: 30, description: 300, parameter: 700 };

/** The operations that a GPT may call. */
export const essentialOperations: readonly Operation[] = Object.values<Operation>(
  operations,
).filter(({ essential, audience }) => essential && audience.includes('user'));

/**
 * The schema of a custom GPT: the control of sessions and the short list of operations, each marked with whether
 * ChatGPT asks before it calls it. `url` is the address at which ChatGPT reaches this server.
 */
export function gptDocument(url: string): Json {
  const routes = Object.entries<Route>(gptRoutes).filter(([, route]) => route !== gptRoutes.call);
  const control = routes.map(([name, route]) => pathOf(route, controlObject(name, route)));
  const calls = essentialOperations.map((operation) =>
    pathOf({ ...gptRoutes.call, path: callPath(operation) }, callObject(operation)),
  );
  const components = new Components();
  const content = problemContent(components);
  const paths: Record<string, Json> = {};
  for (const { path, method, object } of [...control, ...calls])
    paths[path] = { ...paths[path], [method]: object };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Belay',
      version: '1',
      description:
        'A machine in a container: run commands, read and change files, browse the web, and let coding agents work there.',
    },
    servers: [{ url }],
    security: [{ token: [] }],
    paths,
    components: {
      responses: Object.fromEntries(
        Object.values(failures).map(({ name, description }) => [name, { description, content }]),
      ),
      schemas: components.schemas,
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  };
}

const callPath = ({ name }: Operation): Route['path'] => `/gpt/operations/${toolName(name)}`;

function pathOf({ path, method }: Route, object: Json) {
  return { path: path.replaceAll(/:(\w+)/g, '{$1}'), method: method.toLowerCase(), object };
}

function controlObject(name: string, route: Route): Json {
  const { summary, body, response, status, method } = route;
  const content = isSchema(body)
    ? { 'application/json': { schema: withShortDescriptions(schemaOf(body, 'request')) } }
    : body && { 'multipart/form-data': { schema: upload } };
  return {
    operationId: name,
    summary: cut(summary, gptLimits.description),
    description: cut(summary, gptLimits.description),
    'x-openai-isConsequential': method !== 'GET' && route.access !== 'view',
    parameters: parametersOf(route),
    ...(content && { requestBody: { required: true, content } }),
    responses: {
      [status]: isBytes(response)
        ? { description: summary, content: bytesOf(response.bytes) }
        : done,
      ...failed,
    },
  };
}

/** ChatGPT asks first before any call that can change something or reach another machine. */
function callObject(operation: Operation): Json {
  const { title, description, risk } = operation;
  const schema = withShortDescriptions(modelTool(operation).parameters);
  return {
    operationId: toolName(operation.name),
    summary: title,
    description: cut(description, gptLimits.description),
    'x-openai-isConsequential': risk !== 'read',
    parameters: parametersOf({ ...gptRoutes.call, path: '/gpt/operations' }),
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: { 200: done, ...failed },
  };
}

function parametersOf(route: Route): unknown[] {
  return [...pathParameters(route), ...queryParameters(route)].map((parameter) => {
    const { name, description = name } = parameter;
    return { ...parameter, description: cut(String(description), gptLimits.parameter) };
  });
}

const bytesOf = (mediaType: string): Json => ({ [mediaType]: { schema: { type: 'string' } } });

const done = {
  description: 'The result, as JSON.',
  content: { 'application/json': { schema: { type: 'object', properties: {} } } },
};

/** What a model can learn from the status of a failure; the sentence in it says more. */
const failures = {
  400: {
    name: 'InvalidInput',
    description:
      'The input is wrong, or the conversation has no machine yet: useAgent, startSession.',
  },
  401: { name: 'Unauthorized', description: 'The token is missing, wrong or expired.' },
  403: {
    name: 'Forbidden',
    description: 'The user, or one of their rules, refused or cancelled the call. Ask them.',
  },
  404: { name: 'NotFound', description: 'There is no such file, run or operation.' },
  408: { name: 'TimedOut', description: 'It took too long and was ended.' },
  500: { name: 'Failed', description: 'The server failed unexpectedly.' },
};

const failed = Object.fromEntries(
  Object.entries(failures).map(([status, { name }]) => [
    status,
    { $ref: `#/components/responses/${name}` },
  ]),
);

const upload = {
  type: 'object',
  properties: {
    file: {
      type: 'string',
      format: 'binary',
      description: 'The file; the field may also be named `document`.',
    },
  },
};

function withShortDescriptions(value: object): Json {
  const entries = Object.entries(value).map(([key, each]: [string, unknown]) => {
    if (key === 'description' && typeof each === 'string')
      return [key, cut(each, gptLimits.parameter)];
    if (Array.isArray(each) || typeof each !== 'object' || each === null) return [key, each];
    return [key, withShortDescriptions(each)];
  });
  return Object.fromEntries(entries) as Json;
}

/** As many whole sentences as fit. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.slice(0, most).lastIndexOf('. ');
  return end > 0 ? text.slice(0, end + 1) : `${text.slice(0, most - 1)}…`;
}
