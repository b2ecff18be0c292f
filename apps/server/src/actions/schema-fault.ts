const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

/** Keywords whose value is a schema, a list of them, or an object of them by name. */
const ofOne = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames'];
const ofSeveral = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const ofNamed = ['properties', 'patternProperties', '$defs', 'definitions'];

/**
 * What is wrong with an untrusted JSON Schema whose size and depth are limited, with the path to it; undefined if
 * nothing is. Only mistakes are found that make providers refuse the tool: types, and keywords of another shape.
 */
export function schemaFault(schema: unknown, path: string): string | undefined {
  if (typeof schema === 'boolean') return undefined;
  if (!isObject(schema)) return `${path}: a schema is an object`;
  return typeFault(schema, path) ?? requiredFault(schema, path) ?? partFault(schema, path);
}

function typeFault({ type }: Fields, path: string): string | undefined {
  const named = Array.isArray(type) ? (type as unknown[]) : type === undefined ? [] : [type];
  const wrong = named.find((one) => !types.includes(one as string));
  return wrong === undefined
    ? undefined
    : `${path}.type: ${JSON.stringify(wrong)?.slice(0, 60)} is not a type; use ${types.join(', ')}`;
}

const requiredFault = ({ required }: Fields, path: string): string | undefined =>
  required === undefined || (Array.isArray(required) && required.every(isText))
    ? undefined
    : `${path}.required: a list of the names of fields`;

function partFault(schema: Fields, path: string): string | undefined {
  for (const [keyword, part] of partsOf(schema)) {
    const fault = schemaFault(part, `${path}.${keyword}`);
    if (fault !== undefined) return fault;
  }
  for (const keyword of ofNamed)
    if (schema[keyword] !== undefined && !isObject(schema[keyword]))
      return `${path}.${keyword}: an object with a schema for each name`;
  return undefined;
}

function* partsOf(schema: Fields): Generator<[string, unknown]> {
  for (const keyword of ofOne) {
    const part = schema[keyword];
    // In older drafts, `items` may be a list.
    if (Array.isArray(part))
      for (const [at, one] of part.entries()) yield [`${keyword}.${at}`, one];
    else if (part !== undefined) yield [keyword, part];
  }
  for (const keyword of ofSeveral) {
    const parts = schema[keyword];
    if (Array.isArray(parts))
      for (const [at, one] of parts.entries()) yield [`${keyword}.${at}`, one];
  }
  for (const keyword of ofNamed) {
    const parts = schema[keyword];
    if (isObject(parts))
      for (const [name, one] of Object.entries(parts))
        yield [`${keyword}.${name.slice(0, 60)}`, one];
  }
}

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: unknown): boolean => typeof value === 'string';
