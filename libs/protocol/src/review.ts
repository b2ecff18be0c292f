import { z } from 'zod';

/** A comment of a review, on consecutive lines of a diff. */
export const reviewComment = z.object({
  path: z.string().max(4_096),
  side: z
    .enum(['after', 'before'])
    .describe('Whether the numbers count lines after the change, or before it (removed lines).'),
  from: z.int().positive(),
  to: z.int().positive(),
  quote: z
    .array(z.string().max(2_000))
    .max(500)
    .describe('The lines as in the diff, each with its leading `+`, `-` or space.'),
  text: z.string().min(1).max(20_000),
  rejected: z.boolean().default(false).describe('Whether the user reverted these lines.'),
});
export type ReviewComment = z.output<typeof reviewComment>;

/** A review of the agent’s changes, beside the text of its message. */
export const review = z.object({
  id: z.string().min(1).max(100).describe('Chosen by the sender; the same for a repetition.'),
  comments: z.array(reviewComment).max(200),
});
