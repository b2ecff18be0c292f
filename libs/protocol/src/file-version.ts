import { z } from 'zod';
import { errorFrom } from './errors.js';

/** The bytes of a file, named by the begin of their git blob’s id; what is in the history is found there by it. */
export const fileVersion = z.string().regex(/^[0-9a-f]{16}$/, 'a version that a result named');

/** Lines from `at` on, as they were, that others stand in place of now; those around them may be counted on both sides. */
export const lineHunk = z.object({
  at: z.int().positive(),
  removed: z.int().nonnegative(),
  added: z.int().nonnegative(),
});
export type LineHunk = z.infer<typeof lineHunk>;

/** More places are not named: the file is read again. */
export const maxHunks = 500;
const lineHunks = z
  .array(lineHunk)
  .max(maxHunks)
  .optional()
  .describe('Where it changed, from the top on.');

/** A file that someone changed: null versions mean no file. */
export const fileChange = z.object({
  path: z.string().max(4_096),
  before: fileVersion.nullable(),
  version: fileVersion.nullable(),
  hunks: lineHunks,
});
export type FileChange = z.infer<typeof fileChange>;

/** Lines of a file, the last included, and how many it has. */
export interface FilePart {
  from: number;
  to: number;
  of: number;
}

/** What an output tells of whole files to whoever reads it. */
export type FileNews =
  /** The reader knows this version, from now on; with `part`, these lines of it. */
  | { kind: 'shown'; path: string; version: string | null; part?: FilePart | undefined }
  /** A reader that knew the version before knows this one; without `before`, whichever it knew. */
  | {
      kind: 'changed';
      path: string;
      before?: string | null;
      version: string | null;
      /** Lines of the file now, where they are known. */
      lines?: number;
      /** The places of the change, which the reader was shown. */
      hunks?: readonly LineHunk[] | undefined;
    }
  | { kind: 'moved'; from: string; to: string };

/** The details of a `conflict` about a file that is not as its caller knew it. */
export const fileConflict = z.object({
  path: z.string(),
  /** What is there now; null for no file. */
  version: fileVersion.nullable(),
  /** Whether the message shows all that changed, so that its reader knows this version now. */
  shown: z.boolean().default(false),
  hunks: lineHunks,
});
export type FileConflict = z.infer<typeof fileConflict>;

/** The file that an error is about; undefined when it is not a conflict about a version. */
export function fileConflictOf(error: unknown): FileConflict | undefined {
  const { code, details } = errorFrom(error);
  return code === 'conflict' ? fileConflict.safeParse(details).data : undefined;
}
