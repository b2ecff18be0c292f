import { z } from 'zod';
import { gptDocument } from './gpt-open-api.js';
import { openApiDocument } from './open-api.js';
import { published, schemaOf, type PublishedSchema } from './published-schema.js';

type Json = Record<string, unknown>;

interface Operation {
  operationId: string;
  tags: string[];
  summary?: string;
  description?: string;
  security?: unknown[];
  parameters: { name: string; in: string; schema?: PublishedSchema }[];
  requestBody?: { content: Record<string, Json> };
  responses: Record<string, { $ref?: string; content?: Record<string, Json> }>;
}

interface Document {
  servers: { url: string }[];
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, PublishedSchema>; responses: Record<string, Json> };
}

/** An installed tool with a schema of its own, as strangers write them. */
const installed = {
  operation: { name: 'action.greet', title: 'Greet', output: z.object({ text: z.string() }) },
  path: '/api/actions/greet/calls',
  tool: {
    name: 'action_greet',
    description: 'Greets.',
    parameters: {
      type: 'object',
      properties: {
        // Named like keywords, which they are not.
        default: { type: 'array', default: [], items: { type: 'string' } },
        pattern: { type: 'string', format: 'date-time', pattern: '^x$' },
        pair: {
          type: 'array',
          prefixItems: [{ type: 'integer' }, { type: 'integer' }],
          items: false,
        },
      },
    },
  },
};

describe('the OpenAPI document', () => {
  const document = openApiDocument([installed as never]) as unknown as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );

  it('has unique tags and ids, each tag with a description, and the address of the server', () => {
    const names = document.tags.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(document.tags.filter(({ description }) => !description)).toEqual([]);
    const used = new Set(operations.flatMap(({ tags }) => tags));
    expect([...used].filter((tag) => !names.includes(tag))).toEqual([]);
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(document.servers).toHaveLength(1);
  });

  it('has no two paths that match the same address, but for a fixed part beside a parameter', () => {
    const parts = Object.keys(document.paths).map((path) => path.split('/'));
    const isParameter = (part: string | undefined) => part?.startsWith('{') ?? false;
    const ambiguous = parts.flatMap((one, at) =>
      parts.slice(at + 1).flatMap((other) => {
        if (one.length !== other.length) return [];
        const differ = one.flatMap((part, index) => (part === other[index] ? [] : [index]));
        const meet = differ.every((index) => isParameter(one[index]) || isParameter(other[index]));
        const bothWays = [one, other].every((path) =>
          differ.some((index) => isParameter(path[index])),
        );
        return meet && bothWays ? [[one.join('/'), other.join('/')]] : [];
      }),
    );
    expect(ambiguous).toEqual([]);
  });

  it('names each usual failure and all others, without ranges of statuses', () => {
    for (const { operationId, responses, security } of operations) {
      const codes = Object.keys(responses);
      expect({
        operationId,
        codes: codes.filter((code) => !/^(\d{3}|default)$/.test(code)),
      }).toEqual({
        operationId,
        codes: [],
      });
      expect(codes).toContain('default');
      if (security === undefined)
        expect(codes).toEqual(expect.arrayContaining(['401', '403', '429']));
    }
    for (const reference of JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
      const [, kind = '', name = ''] = reference;
      expect(document.components[kind as 'schemas']).toHaveProperty(name);
    }
  });

  it('has a schema for every media type, without parameters in its name', () => {
    const bodies = operations.flatMap(({ operationId, requestBody, responses }) =>
      [
        ...Object.entries(requestBody?.content ?? {}),
        ...Object.values(responses).flatMap(({ content = {} }) => Object.entries(content)),
      ].map(([type, { schema }]) => ({ operationId, type, schema })),
    );
    expect(bodies.length).toBeGreaterThan(200);
    expect(bodies.filter(({ schema }) => typeof schema !== 'object')).toEqual([]);
    expect(bodies.filter(({ type }) => type.includes(';'))).toEqual([]);
    const yaml = bodies.find(({ type }) => type === 'application/yaml');
    expect(yaml?.schema).toEqual({ type: 'object' });
  });

  it('names the objects of its requests and responses, so that clients have types for them', () => {
    const own = operations.filter(({ path }) => path !== installed.path);
    const unnamed = own.flatMap(({ operationId, requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].flatMap((body) => {
        const { schema } = (body?.content?.['application/json'] ?? {}) as {
          schema?: PublishedSchema;
        };
        const items = schema?.['items'] as PublishedSchema | undefined;
        return [schema, items].some((each) => each?.['properties']) ? [operationId] : [];
      }),
    );
    expect(unnamed).toEqual([]);
    const { schemas } = document.components;
    expect(Object.keys(schemas)).toEqual(
      expect.arrayContaining([
        'Event',
        'CreateSession',
        'OperationFilesReadRequest',
        'Problem',
        'Session',
      ]),
    );
    expect(Object.keys(schemas).filter((name) => !/^[A-Z]\w*$/.test(name))).toEqual([]);
    // Generators for Go write a function of this name for each type.
    expect(Object.keys(schemas).filter((name) => name.startsWith('New'))).toEqual([]);
  });

  /** Every schema in a value, with the way to it. */
  function* schemasIn(
    value: unknown,
    way = '',
  ): Generator<{ way: string; schema: PublishedSchema }> {
    if (typeof value !== 'object' || value === null) return;
    const isNames = /\/(properties|schemas|headers|patternProperties|mapping)$/.test(way);
    if (!isNames && !Array.isArray(value)) yield { way, schema: value as PublishedSchema };
    for (const [key, inner] of Object.entries(value)) yield* schemasIn(inner, `${way}/${key}`);
  }
  const all = [...schemasIn(document)];
  const waysOf = (isWrong: (schema: PublishedSchema, way: string) => boolean) =>
    all.filter(({ way, schema }) => isWrong(schema, way)).map(({ way }) => way);

  it('has only what generators of clients can read', () => {
    expect(all.length).toBeGreaterThan(2_000);
    expect(waysOf(({ prefixItems }) => prefixItems !== undefined)).toEqual([]);
    expect(waysOf(({ items }) => typeof items === 'boolean')).toEqual([]);
    expect(waysOf(({ type, items }) => type === 'array' && items === undefined)).toEqual([]);
    expect(waysOf(({ $schema }) => typeof $schema === 'string')).toEqual([]);
    expect(
      waysOf(({ type, format }) => type === 'integer' && !/^int(32|64)$/.test(String(format))),
    ).toEqual([]);
    const isNumber = ({ type }: PublishedSchema) => [type].flat().includes('number');
    expect(waysOf((schema) => isNumber(schema) && schema['format'] !== 'double')).toEqual([]);
    expect(
      waysOf(({ format, pattern }) => format === 'date-time' && pattern !== undefined),
    ).toEqual([]);
    expect(waysOf(({ pattern }) => /\\p\{/i.test(String(pattern)))).toEqual([]);
    const types = ({ type }: PublishedSchema) =>
      Array.isArray(type) ? type.filter((one) => one !== 'null') : [];
    expect(waysOf((schema) => types(schema).length > 1)).toEqual([]);
  });

  it('has simple defaults in requests, and none in responses', () => {
    const isDefault = (schema: PublishedSchema) =>
      'default' in schema && !('operationId' in schema);
    const inRequests = (schema: PublishedSchema) =>
      isDefault(schema) && typeof schema['default'] !== 'object';
    const wrong = waysOf(
      (schema, way) => !way.endsWith('/responses') && isDefault(schema) && !inRequests(schema),
    );
    expect(wrong).toEqual([]);
    expect(waysOf((schema, way) => way.includes('/responses/') && isDefault(schema))).toEqual([]);
    const ofResponses = Object.keys(document.components.schemas).filter((name) =>
      /Output(Item)?$|^(Session|Event)$/.test(name),
    );
    for (const name of ofResponses) {
      const inner = [...schemasIn(document.components.schemas[name], `/${name}`)];
      expect(inner.filter(({ schema }) => isDefault(schema)).map(({ way }) => way)).toEqual([]);
    }
  });

  it('has the rules of headers and parameters that the server checks', () => {
    const create = document.paths['/api/sessions']?.['post'];
    expect(create?.parameters).toContainEqual(
      expect.objectContaining({
        name: 'Idempotency-Key',
        schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,200}$' },
      }),
    );
    const save = document.paths['/api/sessions/{id}/file']?.['put'];
    expect(save?.parameters).toContainEqual(
      expect.objectContaining({ name: 'executable', schema: { type: 'boolean' } }),
    );
    const ask = document.paths['/oauth/authorize']?.['get'];
    expect(ask?.parameters.map(({ name }) => name)).toContain('code_challenge');
  });

  it('keeps what is only named like a keyword', () => {
    const { requestBody } = document.paths[installed.path]?.['post'] ?? {};
    expect(requestBody?.content['application/json']?.['schema']).toMatchObject({
      properties: {
        default: { type: 'array', items: { type: 'string' } },
        pattern: { type: 'string', format: 'date-time' },
        pair: { minItems: 2, maxItems: 2, items: { type: 'integer', format: 'int64' } },
      },
    });
  });
});

describe('a published schema', () => {
  it('only describes what may be a text or a list', () => {
    const either = z
      .union([z.enum(['all', 'own']), z.array(z.string())])
      .describe('All, or these.');
    expect(schemaOf(either, 'request')).toEqual({ description: 'All, or these.' });
    expect(schemaOf(z.string().nullable(), 'response')).toHaveProperty('type');
  });

  it('has the default of an input only when that is simple', () => {
    const input = z.object({
      a: z.int().default(1),
      b: z.string().nullable().default(null),
      c: z.array(z.int()).default([]),
    });
    const { properties } = schemaOf(input, 'request') as { properties: Record<string, Json> };
    expect(properties['a']).toHaveProperty('default', 1);
    expect(JSON.parse(JSON.stringify(properties))).not.toHaveProperty('b.default');
    expect(JSON.parse(JSON.stringify(properties))).not.toHaveProperty('c.default');
    expect(JSON.stringify(schemaOf(input, 'response'))).not.toContain('default');
  });

  it('leaves a mixed tuple as a list of its length', () => {
    const pair = published(
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
      'response',
    );
    expect(pair).toEqual({ type: 'array', items: {}, minItems: 2, maxItems: 2 });
  });
});

describe('the schema for custom GPTs', () => {
  const document = gptDocument('http://server:1') as unknown as Document;

  it('says what each operation does', () => {
    const all = Object.values(document.paths).flatMap((operations) => Object.values(operations));
    expect(all.filter(({ summary }) => !summary)).toEqual([]);
  });

  it('says what each failure means', () => {
    for (const operations of Object.values(document.paths))
      for (const { operationId, responses } of Object.values(operations))
        expect({ operationId, codes: Object.keys(responses) }).toEqual({
          operationId,
          codes: expect.arrayContaining(['400', '401', '403', '404', '500']) as string[],
        });
    expect(document.components.responses['Forbidden']).toMatchObject({
      description: expect.stringContaining('refused') as string,
    });
  });
});
