import { z } from 'zod';

/** A number in an address, where all is text. */
export const count = z.coerce.number<number>().int().nonnegative();
