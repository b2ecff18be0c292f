import { z } from 'zod';

const identityPart = z
  .string()
  .trim()
  .min(1)
  .max(200)
  // oxlint-disable-next-line no-control-regex
  .regex(/^[^\u0000-\u001f\u007f-\u009f<>]*$/, 'no control characters, < or >');

/** The author of commits. */
export const gitIdentity = z.object({ name: identityPart, email: identityPart });
export type GitIdentity = z.infer<typeof gitIdentity>;
