import { AppError, faultOf } from '@belay/protocol';
import type { z } from 'zod';

/** The input of what is called `name`, parsed. Throws `invalid_input`, which names both. */
export function parsedInput<S extends z.ZodType>(
  name: string,
  schema: S,
  input: unknown,
): z.output<S> {
  const { data, error } = schema.safeParse(input);
  if (error) throw new AppError('invalid_input', `${name}: ${faultOf(error)}.`);
  return data as z.output<S>;
}
