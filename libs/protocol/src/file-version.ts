import { z } from 'zod';
import { errorFrom } from './errors.js';

/** Identifies the bytes of a file by the start of their git blob’s id, which also finds them in the history. */
export const fileVersion = z.string().regex(/^[0-9a-f]{16}$/, 'a version that a result named');

/** Old lines from `at` on that were replaced by new ones; unchanged lines around them may be counted on both sides. */
export const lineHunk = z.object({
  at: z.int().positive(),
  removed: z.int().nonnegative(),
  added: z.int().nonnegative(),
});
export type LineHunk = z.infer<typeof lineHunk>;

/** The maximum number of places; after more changes the file is read again. */
export const maxHunks = 500;
const lineHunks = z
  .array(lineHunk)
  .max(maxHunks)
  .optional()
  .describe('The places of the changes, from top to bottom.');

/** A file that someone changed: null versions mean no file. */
export const fileChange = z.object({
  path: z.string().max(4_096),
  before: fileVersion.nullable(),
  version: fileVersion.nullable(),
  hunks: lineHunks,
});
export type FileChange = z.infer<typeof fileChange>;

/** A range of a file’s lines, inclusive, and the number of lines in the file. */
export interface FilePart {
  from: number;
  to: number;
  of: number;
}

/** The knowledge about whole files that the reader of an output gains. */
export type FileNews =
  /** The reader now knows this version; with `part`, these lines of it. */
  | { kind: 'shown'; path: string; version: string | null; part?: FilePart | undefined }
  /** A reader that knew the version `before` (if omitted, any version) knows this one. */
  | {
      kind: 'changed';
      path: string;
      before?: string | null;
      version: string | null;
      /** The file’s new number of lines, if known. */
      lines?: number;
      /** The places of the change, which the reader was shown. */
      hunks?: readonly LineHunk[] | undefined;
    }
  | { kind: 'moved'; from: string; to: string };

/** The details of a `conflict`: the file differs from the version that the caller knew. */
export const fileConflict = z.object({
  path: z.string(),
  /** The current version; null if there is no file. */
  version: fileVersion.nullable(),
  /** Whether the message shows all changes, so that its reader now knows this version. */
  shown: z.boolean().default(false),
  hunks: lineHunks,
});
export type FileConflict = z.infer<typeof fileConflict>;

/** The file of a version conflict; undefined for any other error. */
export function fileConflictOf(error: unknown): FileConflict | undefined {
  const { code, details } = errorFrom(error);
  return code === 'conflict' ? fileConflict.safeParse(details).data : undefined;
}
