import { z } from 'zod';
import type { Sender } from './sender.js';

export const labelsContent = z.object({ add: z.array(z.string()), remove: z.array(z.string()) });

/** The same change twice is one. */
export const sendLabels: Sender = async ({ forge, subject, row }) => {
  await forge.changeLabels(subject, labelsContent.parse(JSON.parse(row.content)));
  return null;
};
