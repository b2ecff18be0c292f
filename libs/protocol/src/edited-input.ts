import { AppError, faultOf } from './errors.js';
import type { Operation } from './operation.js';

/**
 * The input of a call with the fields that the user changed before allowing it. Throws `invalid_input` for a field that
 * its definition does not let users change, and for a value that it does not take.
 */
export function editedInput(
  { name, editable, input: schema }: Pick<Operation, 'name' | 'editable' | 'input'>,
  input: unknown,
  edited: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const other = Object.keys(edited).find((field) => !editable.includes(field));
  if (other !== undefined)
    throw new AppError(
      'invalid_input',
      `${other} of ${name} cannot be changed. Deny the call and say what to do instead.`,
    );
  const parsed = schema.safeParse({ ...(input as object), ...edited });
  if (parsed.success) return parsed.data as Record<string, unknown>;
  throw new AppError('invalid_input', `${name}: ${faultOf(parsed.error)}.`);
}
