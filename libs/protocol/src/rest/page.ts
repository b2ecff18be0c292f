import { z } from 'zod';

/** A page of a list whose items have ids: all of them when no limit is given. */
export const pageQuery = z.object({
  limit: z.coerce.number<number>().int().positive().max(1_000).optional(),
  after: z.string().max(200).optional().describe('The id of the last item of the page before.'),
});
export type PageQuery = z.output<typeof pageQuery>;
