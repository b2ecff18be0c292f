import { z } from 'zod';
import { defineOperation } from '../operation.js';

const path = z
  .string()
  .min(1)
  .describe('Path relative to the workspace, such as src/sum.js; nothing outside it is reached.');
const line = z.int().positive();

/** How an edit changed lines; the words are those of the seeds (OpenDevin's `code` event). */
export const lineChange = z.enum(['INSERT', 'DELETE', 'REPLACE']);

const written = z.object({
  path: z.string(),
  size: z.int().nonnegative().describe('Bytes of the file now.'),
  lines: z.int().nonnegative().describe('Lines of the file now; 0 for a binary file.'),
});

export const filesOperations = {
  'files.list': defineOperation({
    name: 'files.list',
    title: 'List files',
    description:
      'Lists files and folders below a folder, to a depth. What was too deep or too much is named in `untraversed`.',
    risk: 'read',
    input: z.object({
      path: path.default('.'),
      depth: z.int().positive().max(20).default(3),
      hidden: z.boolean().default(false).describe('Also what .gitignore hides, and .git.'),
      limit: z.int().positive().max(20_000).default(500),
    }),
    output: z.object({
      entries: z.array(
        z.object({
          path: z.string(),
          kind: z.enum(['file', 'folder', 'link', 'other']),
          size: z.int().nonnegative(),
        }),
      ),
      untraversed: z.array(z.string()),
    }),
  }),
  'files.read': defineOperation({
    name: 'files.read',
    title: 'Read a file',
    description:
      'Reads lines of a text file, numbered from 1, or bytes of any file with encoding base64. Long files come in pages: ask again from `next`.',
    risk: 'read',
    input: z.object({
      path,
      from: line.default(1).describe('First line, from 1.'),
      to: line.optional().describe('Last line, included.'),
      encoding: z.enum(['utf8', 'base64']).default('utf8'),
      offset: z.int().nonnegative().default(0).describe('First byte, for base64.'),
      limit: z
        .int()
        .positive()
        .max(200_000)
        .default(40_000)
        .describe('Characters of one page, about; whole lines.'),
    }),
    output: z.object({
      path: z.string(),
      content: z.string(),
      from: z.int().nonnegative(),
      to: z.int().nonnegative(),
      lines: z.int().nonnegative().describe('Lines of the whole file.'),
      size: z.int().nonnegative().describe('Bytes of the whole file.'),
      next: z
        .int()
        .nonnegative()
        .nullable()
        .describe('Where to read on: a line, or a byte for base64.'),
    }),
  }),
  'files.write': defineOperation({
    name: 'files.write',
    title: 'Write a file',
    description:
      'Writes a whole file, making its folders; replaces what was there and keeps its mode. For new files and rewrites: an edit of a part takes files.replace-text.',
    risk: 'write',
    input: z.object({
      path,
      content: z.string(),
      encoding: z.enum(['utf8', 'base64']).default('utf8'),
      executable: z.boolean().optional(),
    }),
    output: written.extend({ created: z.boolean() }),
  }),
  'files.edit': defineOperation({
    name: 'files.edit',
    title: 'Edit lines',
    description:
      'Changes lines of a text file by their numbers, as the last reading showed them: numbers move with each edit above them. INSERT puts `content` before line `from` (one past the end appends); DELETE removes lines from–to; REPLACE puts `content` in their place. A range outside the file is an error.',
    risk: 'write',
    input: z
      .object({
        path,
        change: lineChange,
        from: line,
        to: line.optional().describe('Last line, included; `from` when left out.'),
        content: z.array(z.string()).default([]).describe('Lines, without line ends.'),
      })
      .refine(
        (edit) => edit.to === undefined || edit.to >= edit.from,
        'to must not be before from',
      ),
    output: written,
  }),
  'files.replace-text': defineOperation({
    name: 'files.replace-text',
    title: 'Replace text',
    description:
      'Replaces an exact piece of text, the best way for a small edit. `find` is the text as the file has it, with its indentation, and with enough lines around to be the only one: it must occur exactly `count` times (1 when left out), else nothing changes and the answer says where it occurs.',
    risk: 'write',
    input: z.object({
      path,
      find: z.string().min(1),
      replace: z.string(),
      count: z.int().positive().default(1),
    }),
    output: written.extend({ replaced: z.int().nonnegative() }),
  }),
  'files.patch': defineOperation({
    name: 'files.patch',
    title: 'Apply a patch',
    description:
      'Applies a unified diff of one or more files, for edits in many places: `--- a/src/x.js`, `+++ b/src/x.js`, then hunks with `@@ -3,2 +3,3 @@`; /dev/null stands for a new or removed file. A hunk is searched outward from its stated line; if any hunk fails, nothing changes and the answer names the hunk and why.',
    risk: 'write',
    input: z.object({ patch: z.string().min(1) }),
    output: z.object({
      files: z.array(
        z.object({
          path: z.string(),
          added: z.int().nonnegative(),
          removed: z.int().nonnegative(),
          offsets: z
            .array(z.int())
            .describe('Lines by which each hunk was found away from its place.'),
        }),
      ),
    }),
  }),
  'files.move': defineOperation({
    name: 'files.move',
    title: 'Move a file',
    description: 'Moves or renames a file or folder; refuses to replace what is there.',
    risk: 'write',
    input: z.object({ from: path, to: path }),
    output: z.object({ from: z.string(), to: z.string() }),
  }),
  'files.remove': defineOperation({
    name: 'files.remove',
    title: 'Remove a file',
    description: 'Removes a file, or a folder with everything in it when `recursive`.',
    risk: 'write',
    input: z.object({ path, recursive: z.boolean().default(false) }),
    output: z.object({ path: z.string() }),
  }),
  'files.mkdir': defineOperation({
    name: 'files.mkdir',
    title: 'Make a folder',
    description: 'Makes a folder and the folders above it.',
    risk: 'write',
    input: z.object({ path }),
    output: z.object({ path: z.string(), created: z.boolean() }),
  }),
  'files.search': defineOperation({
    name: 'files.search',
    title: 'Search files',
    description:
      'Searches the text of files for a regular expression, or finds files by name with `name`; quicker and shorter than grep or find in a terminal. What .gitignore names is left out.',
    risk: 'read',
    input: z.object({
      pattern: z.string().default('').describe('Regular expression; empty to find files by name.'),
      path: path.default('.'),
      name: z.string().optional().describe('Glob of file names, such as *.ts.'),
      literal: z.boolean().default(false),
      ignoreCase: z.boolean().default(false),
      context: z.int().min(0).max(10).default(0).describe('Lines around each match.'),
      limit: z.int().positive().max(2_000).default(200),
    }),
    output: z.object({
      matches: z.array(
        z.object({
          path: z.string(),
          line: z.int().nonnegative().describe('0 when found by name.'),
          text: z.string(),
        }),
      ),
      truncated: z.boolean(),
    }),
  }),
};
