import { isDeepStrictEqual } from 'node:util';
import { automationDefinition, triggerSchemas, type AutomationDefinition } from '@belay/protocol';
import { stringify } from 'yaml';
import { z } from 'zod';

/** A definition as YAML, without what has its usual value: read again, it is the same definition. */
export const definitionYaml = (definition: AutomationDefinition): string =>
  stringify(unusual(automationDefinition, definition), { lineWidth: 0, blockQuote: 'literal' });

/** A value without the parts that its schema would add; undefined if that leaves nothing. */
function unusual(schema: z.core.$ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodDefault)
    return isDeepStrictEqual(value, schema.def.defaultValue)
      ? undefined
      : unusual(schema.unwrap(), value);
  if (schema instanceof z.ZodPrefault) {
    const left = unusual(schema.unwrap(), value);
    return isDeepStrictEqual(left, schema.def.defaultValue) ? undefined : left;
  }
  if (schema instanceof z.ZodOptional)
    return value === undefined ? value : unusual(schema.unwrap(), value);
  if (!isObject(value)) return value;
  if (schema instanceof z.ZodObject) return unusualParts(schema.shape, value);
  const trigger = Object.entries(triggerSchemas).find(([key]) => Object.hasOwn(value, key));
  return trigger ? unusualParts(trigger[1].shape, value) : value;
}

/** In the order of the schema. */
function unusualParts(
  shape: Readonly<Record<string, z.core.$ZodType>>,
  value: Record<string, unknown>,
): Record<string, unknown> {
  const given = new Map(Object.entries(value));
  const parts = Object.entries(shape).map(([key, part]) => [key, unusual(part, given.get(key))]);
  return Object.fromEntries(parts.filter(([, left]) => left !== undefined));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
