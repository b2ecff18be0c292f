import { z } from 'zod';

/** A number in a URL, where every value is text. */
export const count = z.coerce.number<number>().int().nonnegative();
