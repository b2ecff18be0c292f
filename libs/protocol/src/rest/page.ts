import { z } from 'zod';

/** A page of a list whose items have ids: the whole list if no limit is given. */
export const pageQuery = z.object({
  limit: z.coerce.number<number>().int().positive().max(1_000).optional(),
  after: z.string().max(200).optional().describe('The id of the last item on the previous page.'),
});
export type PageQuery = z.output<typeof pageQuery>;
