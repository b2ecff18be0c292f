import { z } from 'zod';
import type { Sender } from './sender.js';

export const reactionContent = z.object({ comment: z.string().nullable() });

/** The same reaction twice is one. */
export const sendReaction: Sender = async ({ forge, subject, row }) => {
  const { comment } = reactionContent.parse(JSON.parse(row.content));
  await forge.react(subject, comment);
  return null;
};
