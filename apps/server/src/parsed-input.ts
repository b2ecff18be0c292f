import { AppError, faultOf } from '@belay/protocol';
import type { z } from 'zod';

/** Parses the input of an operation or command. Throws `invalid_input` with its name and the field. */
export function parsedInput<S extends z.ZodType>(
  name: string,
  schema: S,
  input: unknown,
): z.output<S> {
  const { data, error } = schema.safeParse(input);
  if (error) throw new AppError('invalid_input', `${name}: ${faultOf(error)}.`);
  return data as z.output<S>;
}
