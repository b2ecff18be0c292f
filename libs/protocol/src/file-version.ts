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
export const lineHunks = z
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

/** Lines of a file that a reader was shown, inclusive. */
export const shownLines = z.object({
  from: z.int().positive(),
  to: z.int().positive(),
  cut: z.literal(true).optional().describe('Whether only a part of the line was shown.'),
});
export type ShownLines = z.infer<typeof shownLines>;

/** A range of shown lines, without those that were cut, and each of these. */
export function shownParts(
  { from, to }: ShownLines,
  cuts: readonly { line: number }[],
): ShownLines[] {
  const parts: ShownLines[] = [];
  let next = from;
  for (const { line: number } of cuts) {
    if (number > next) parts.push({ from: next, to: number - 1 });
    parts.push({ from: number, to: number, cut: true });
    next = number + 1;
  }
  return next > to ? parts : [...parts, { from: next, to }];
}

/** The knowledge about files that the reader of an output gains. */
export type FileNews =
  /** The next prompt shows this version; with `parts`, these lines of it. */
  | { kind: 'shown'; path: string; version: string; parts?: readonly ShownLines[] }
  /** The caller wrote this version as a whole; null if it removed the file. */
  | { kind: 'written'; path: string; version: string | null }
  /** The caller changed the file, from the version `before` (if omitted, any that it knew). */
  | ChangeNews<'changed'>
  /** The next prompt tells what someone else changed. */
  | ChangeNews<'told'>
  | { kind: 'moved'; from: string; to: string };

interface ChangeNews<K> {
  kind: K;
  path: string;
  before?: string | null | undefined;
  version: string | null;
  /** The places of the change; without them, the line numbers are unknown afterwards. */
  hunks?: readonly LineHunk[] | undefined;
}

/** The details of a `conflict`: the file differs from the version that the caller knew. */
export const fileConflict = z.object({
  path: z.string(),
  /** The current version; null if there is no file. */
  version: fileVersion.nullable(),
  /** Whether the message shows all changes, so that its reader now knows this version. */
  shown: z.boolean().default(false),
  hunks: lineHunks,
  /** Lines of this version that the message shows with their numbers. */
  lines: z.array(shownLines).optional(),
});
export type FileConflict = z.infer<typeof fileConflict>;

/** The file of a version conflict; undefined for any other error. */
export function fileConflictOf(error: unknown): FileConflict | undefined {
  const { code, details } = errorFrom(error);
  return code === 'conflict' ? fileConflict.safeParse(details).data : undefined;
}
