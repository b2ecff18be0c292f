import { z } from 'zod';

/** The header of a POST that runs only once, however often it is sent. */
export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/)
  .describe(
    'Up to 200 visible ASCII characters of your choice. Within a day, the same request with the same key is carried out only once and gets the same response.',
  );
