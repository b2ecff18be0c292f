import { AppError } from '@belay/protocol';
import { z } from 'zod';

/**
 * The supported parts of an action’s schema. The schema is untrusted, and its patterns could take forever, so they are
 * ignored.
 */
const objectSchema = z.object({
  required: z.array(z.string()).catch([]),
  properties: z.record(z.string(), z.looseObject({})).catch({}),
  additionalProperties: z.unknown().optional(),
});
const propertySchema = z.object({
  type: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .catch(undefined),
  enum: z.array(z.unknown()).optional().catch(undefined),
});

/**
 * Throws `invalid_input` with one sentence for a field that is missing, has another type or is not among its values.
 */
export function checkInput(
  name: string,
  schema: Record<string, unknown>,
  input: Record<string, unknown>,
): void {
  const { required, properties, additionalProperties } = objectSchema.parse(schema);
  const fail = (fault: string): never => {
    throw new AppError('invalid_input', `action.${name}: ${fault}.`);
  };
  for (const field of required) if (!Object.hasOwn(input, field)) fail(`${field} is missing`);
  for (const [field, value] of Object.entries(input)) {
    if (!Object.hasOwn(properties, field)) {
      if (additionalProperties === false) fail(`there is no field ${field}`);
      continue;
    }
    const { type, enum: values } = propertySchema.parse(properties[field]);
    const types = typeof type === 'string' ? [type] : (type ?? []);
    if (types.length > 0 && !types.some((one) => isOf(one, value)))
      fail(`${field} must be of type ${types.join(' or ')}`);
    if (values && !values.some((one) => JSON.stringify(one) === JSON.stringify(value)))
      fail(`${field} must be one of ${values.map((one) => JSON.stringify(one)).join(', ')}`);
  }
}

function isOf(type: string, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    default:
      return true;
  }
}
