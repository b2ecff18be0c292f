import { z } from 'zod';
import { fileVersion } from '../file-version.js';
import { defineOperation } from '../operation.js';
import { aboutPath, folderNames, path } from './file-inputs.js';

/** The operations that find files and lines in them. */
export const findingOperations = {
  'files.list': defineOperation({
    title: 'List files',
    description:
      'Lists the files and folders in a folder, down to `depth`. `untraversed` names folders that were too deep or large.',
    risk: 'read',
    knownAs: 'ls listdir listdirectory listfiles tree',
    input: z.object({
      path: path.default('.'),
      depth: z.int().positive().max(20).default(3),
      hidden: z.boolean().default(false).describe('Also files that .gitignore ignores, and .git.'),
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
      left: z
        .int()
        .nonnegative()
        .default(0)
        .describe('Entries within this depth that are not listed; counted up to 50,000.'),
      untraversed: z.array(z.string()),
    }),
    brief: ({ entries, left, untraversed }) => ({
      ...(left > 0 && { left }),
      ...(untraversed.length > 0 && { untraversed }),
      entries,
    }),
    ...aboutPath,
    aliases: folderNames,
    display: 'file',
  }),
  'files.search': defineOperation({
    title: 'Search files',
    description:
      'Searches the text of files for a regular expression, or finds files by `name`; faster and shorter than grep or find in a terminal. Omits files that .gitignore ignores.',
    risk: 'read',
    knownAs:
      'grep greptool glob search searchfiles searchfilecontent filesearch codebasesearch find findfiles ripgrep rg',
    input: z.object({
      pattern: z.string().default('').describe('Regular expression; empty to find files by name.'),
      path: path.default('.'),
      name: z.string().optional().describe('Glob for file names, such as *.ts.'),
      literal: z.boolean().default(false),
      ignoreCase: z.boolean().default(false),
      context: z.int().min(0).max(10).default(0).describe('Lines to show around each match.'),
      limit: z.int().positive().max(2_000).default(80),
    }),
    output: z.object({
      matches: z.array(
        z.object({
          path: z.string(),
          line: z.int().nonnegative().describe('0 when found by name.'),
          match: z.boolean().optional().describe('With `context`: whether the line matches.'),
          text: z.string().describe('For a long line, the part around its first match.'),
        }),
      ),
      truncated: z.boolean(),
      left: z
        .int()
        .nonnegative()
        .default(0)
        .describe('Matches that are not listed; counted up to 10,000.'),
      versions: z
        .record(z.string(), fileVersion)
        .optional()
        .describe('The versions of files whose lines are shown as a whole.'),
    }),
    brief: ({ matches, left }) => ({
      ...(left > 0 && { left }),
      ...(matches.length > 0 && matches.every(({ line: number }) => number === 0)
        ? { files: matches.map((match) => match.path).join('\n') }
        : { matches }),
    }),
    files: ({ matches, versions = {} }) =>
      Object.entries(versions).map(([path, version]) => ({
        kind: 'shown',
        path,
        version,
        parts: matches
          .filter((match) => match.path === path)
          .map(({ line: number }) => ({ from: number, to: number })),
      })),
    ...aboutPath,
    aliases: {
      ...folderNames,
      query: 'pattern',
      regex: 'pattern',
      glob: 'name',
      include: 'name',
      i: 'ignoreCase',
      caseinsensitive: 'ignoreCase',
      c: 'context',
      headlimit: 'limit',
      maxresults: 'limit',
    },
    summary: ({ pattern, name, path }) => pattern || name || path,
    display: 'file',
  }),
};
