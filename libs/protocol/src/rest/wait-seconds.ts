import { z } from 'zod';

/** The seconds that a request waits for something new, as a number in a URL; fractions count. */
export const waitSeconds = (longest: number) =>
  z.coerce.number<number>().min(0).max(longest).default(0);
