import { z } from 'zod';

export type PublishedSchema = Record<string, unknown>;

/** Whether a schema describes what callers send, or what they get. */
export type Direction = 'request' | 'response';

/**
 * The JSON Schema of a value in the subset that generators of clients read. `nameOf` returns the name of an inner
 * schema that the document defines once.
 */
export function schemaOf(
  schema: z.core.$ZodType,
  direction: Direction,
  nameOf: (inner: z.core.$ZodType) => string | undefined = () => undefined,
): PublishedSchema {
  const definition = z.toJSONSchema(schema, {
    io: direction === 'request' ? 'input' : 'output',
    override: ({ zodSchema, jsonSchema, path }) => {
      const name = path.length === 0 ? undefined : nameOf(zodSchema);
      if (name === undefined) return;
      for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
      Object.assign(jsonSchema, reference(name));
    },
  });
  return published(definition as PublishedSchema, direction);
}

export const reference = (name: string): PublishedSchema => ({
  $ref: `#/components/schemas/${name}`,
});

/** Any JSON Schema, such as an installed action’s, in the same subset. */
export function published(schema: PublishedSchema, direction: Direction): PublishedSchema {
  const { $schema: _, ...given } = schema;
  const inner = withInner(given, (each) => published(each, direction));
  const plain = withoutTuple(inner);
  return defined({
    ...plain,
    // 32 bits would be the default of generators: counts overflow, and costs are rounded.
    ...(hasType(plain, 'integer') && { format: 'int64' }),
    ...(hasType(plain, 'number') && { format: 'double' }),
    // As generators write a record of any values; its names are texts anyway.
    ...(isEmpty(plain['additionalProperties']) && { additionalProperties: true }),
    ...(isPlainText(plain['propertyNames']) && { propertyNames: undefined }),
    // Generators parse a time, and then apply the pattern to the parsed value.
    ...(plain['format'] === 'date-time' && { pattern: undefined }),
    ...('default' in plain && { default: simpleDefault(plain, direction) }),
    // Generators for Java write code for it that does not compile: the description says what it may be.
    ...(isTextOrList(plain) && { anyOf: undefined }),
  });
}

const defined = (schema: PublishedSchema): PublishedSchema =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));

const listed = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const named = ['properties', '$defs', 'definitions', 'patternProperties'];
const single = ['items', 'additionalProperties', 'propertyNames', 'not', 'contains'];

function withInner(
  schema: PublishedSchema,
  change: (inner: PublishedSchema) => PublishedSchema,
): PublishedSchema {
  const changed = (value: unknown): unknown => (isObject(value) ? change(value) : value);
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => {
    if (listed.includes(key) && Array.isArray(value)) return [key, value.map(changed)];
    if (single.includes(key)) return [key, changed(value)];
    if (!named.includes(key) || !isObject(value)) return [key, value];
    const inner = Object.entries(value).map(([name, each]) => [name, changed(each)] as const);
    return [key, Object.fromEntries(inner)];
  });
  return Object.fromEntries(entries);
}

/** A tuple as a list of its length; its items are described if all are alike. */
function withoutTuple({ prefixItems, ...rest }: PublishedSchema): PublishedSchema {
  if (!Array.isArray(prefixItems)) return rest;
  const [first, ...others] = prefixItems.map((item) => JSON.stringify(item));
  const items = others.every((item) => item === first) ? (prefixItems[0] as object) : {};
  return { ...rest, items, minItems: prefixItems.length, maxItems: prefixItems.length };
}

/** A default is a text, number or boolean that callers may leave out; generators cannot write others. */
function simpleDefault({ default: value, type }: PublishedSchema, direction: Direction): unknown {
  const isSimple = typeof type === 'string' && !['object', 'array', 'null'].includes(type);
  return direction === 'request' && isSimple && value !== null ? value : undefined;
}

const isTextOrList = ({ anyOf }: PublishedSchema): boolean =>
  Array.isArray(anyOf) &&
  anyOf.some((one) => hasType(one as PublishedSchema, 'string')) &&
  anyOf.some((one) => hasType(one as PublishedSchema, 'array'));

const isEmpty = (schema: unknown): boolean => isObject(schema) && Object.keys(schema).length === 0;

const isPlainText = (schema: unknown): boolean =>
  isObject(schema) && schema['type'] === 'string' && Object.keys(schema).length === 1;

const hasType = ({ type }: PublishedSchema, name: string): boolean =>
  type === name || (Array.isArray(type) && type.includes(name));

const isObject = (value: unknown): value is PublishedSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
