import { z } from 'zod';

export const commitId = z.string().regex(/^[0-9a-f]{7,64}$/, 'a commit of the history');

/**
 * What the server has copies of, so that a session survives the loss of its sandbox: `steps` are packs of the history’s
 * repository, `repository` are tar archives of the workspace’s own `.git`. The server stores parts and never reads them.
 */
export const copyKind = z.enum(['steps', 'repository']);
export type CopyKind = z.infer<typeof copyKind>;

/** The most bytes of a `CopyHead`. */
export const maxCopyHead = 64 * 2 ** 20;

/**
 * The beginning of every part, for the agent that unpacks it: its length as four bytes, big endian, then this as JSON.
 * A pack or a tar archive follows.
 */
export const copyHead = z.object({
  commit: commitId.describe('The step that was copied last when the part was made.'),
  base: commitId.optional().describe('Steps: the state before the first operation.'),
  shallow: z.string().optional().describe('Steps: git’s file of that name, if old ones are gone.'),
  ownStart: z.string().optional().describe('Steps: the commits of `.git` at the start.'),
  without: z
    .array(z.string().max(4_200))
    .max(20)
    .default([])
    .describe('Files that are in no copy, because they are too large.'),
  removed: z
    .array(z.string().max(4_096))
    .default([])
    .describe('Repository: paths to delete first, relative to the workspace.'),
});
export type CopyHead = z.input<typeof copyHead>;

/** What a session’s new sandbox has of the files of a lost one. */
export const restoredFiles = z.object({
  commit: commitId.nullable().describe('The step; null without a copy: as the session began.'),
  step: z.int().positive().nullable().describe('The event of the log that recorded it.'),
  without: z.array(z.string().max(5_000)).max(50).describe('What was not put back.'),
});
