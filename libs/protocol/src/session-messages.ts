import { z } from 'zod';
import { blobId } from './models.js';
import { review } from './review.js';

/** A message of the user. */
export const newMessage = z.object({
  text: z.string().min(1).max(200_000),
  delivery: z
    .enum(['queue', 'next', 'steer'])
    .default('queue')
    .describe(
      '`queue`: delivered at the end of the turn; `next`: with the next results; `steer`: immediately; waits end, a reply in progress is broken off, and calls that have not started are skipped.',
    ),
  pinned: z.boolean().default(false).describe('Kept word for word when the context is shortened.'),
  images: z.array(blobId).max(100).default([]),
  review: review
    .optional()
    .describe(
      'The comments of a review of the agent’s changes, which `text` contains. It does not answer a question.',
    ),
});
export type NewMessage = z.infer<typeof newMessage>;

/** The change of a queued message. */
export const messageEdit = newMessage.pick({ text: true });
