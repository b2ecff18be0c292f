import { z } from 'zod';
import { fileVersion } from '../file-version.js';
import { defineOperation, operationGroup } from '../operation.js';
import { patchedPaths } from './patched-paths.js';

const path = z.string().min(1).describe('Relative to the workspace.');
const line = z.int().positive();

/** How an edit changed lines, in the terms of OpenDevin’s `code` event. */
export const lineChange = z.enum(['INSERT', 'DELETE', 'REPLACE']);

const version = fileVersion.nullable().default(null);

const written = z.object({
  path: z.string(),
  size: z.int().nonnegative().describe('The new size in bytes.'),
  lines: z.int().nonnegative().describe('The new number of lines; 0 for a binary file.'),
  version: version.describe('The new version.'),
});

const pathNames = { file: 'path', filename: 'path', filepath: 'path', absolutepath: 'path' };
const folderNames = { ...pathNames, dir: 'path', directory: 'path', folder: 'path' };
const rangeNames = {
  start: 'from',
  startline: 'from',
  linestart: 'from',
  end: 'to',
  endline: 'to',
  lineend: 'to',
};

const aboutPath = {
  essential: true,
  aliases: pathNames,
  subject: (input: { path: string }) => input.path,
  subjectKind: 'path',
  paths: (input: { path: string }) => [input.path],
} as const;

export const filesOperations = operationGroup({
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
    ...aboutPath,
    aliases: folderNames,
    display: 'file',
  }),
  'files.read': defineOperation({
    title: 'Read a file',
    description:
      'Reads lines of a text file, numbered from 1, or bytes of any file with encoding base64. PNG, JPEG, GIF and WebP pictures are shown to you. Long files come in pages: continue from `next`.',
    verb: 'read',
    risk: 'read',
    knownAs: 'read readfile view viewfile viewimage openfile open cat readmanyfiles notebookread',
    input: z.object({
      path,
      from: line.default(1).describe('First line, from 1.'),
      to: line.optional().describe('Last line, inclusive.'),
      encoding: z.enum(['utf8', 'base64']).default('utf8'),
      offset: z
        .int()
        .nonnegative()
        .optional()
        .describe('The first line, like `from`; with base64, the first byte, from 0.'),
      limit: z.int().positive().optional().describe('Maximum lines; with base64, bytes.'),
    }),
    output: z.object({
      path: z.string(),
      content: z.string(),
      from: z.int().nonnegative(),
      to: z.int().nonnegative(),
      lines: z.int().nonnegative().describe('Lines in the whole file.'),
      size: z.int().nonnegative().describe('Size of the whole file in bytes.'),
      next: z
        .int()
        .nonnegative()
        .nullable()
        .describe('Where to continue: a line, or a byte for base64; null at the end.'),
      version: version.describe('Of the whole file; null on later pages of bytes.'),
      charset: z
        .literal('windows-1252')
        .optional()
        .describe('Set if the file is not UTF-8: it is shown and edited in this encoding.'),
      image: z.string().optional().describe('The blob of a picture.'),
    }),
    ...aboutPath,
    aliases: { ...pathNames, ...rangeNames },
    display: 'file',
    images: ({ image }) => (image === undefined ? [] : [image]),
    files: ({ path, version, from, to, lines }) => {
      if (version === null) return [];
      const isWhole = lines === 0 || (from === 1 && to >= lines);
      const part = isWhole ? undefined : { from, to, of: lines };
      return [{ kind: 'shown', path, version, part }];
    },
    numbered: ({ content, lines, from }) =>
      content !== '' && lines > 0 ? { field: 'content', from } : null,
  }),
  'files.write': defineOperation({
    title: 'Write a file',
    description:
      'Writes a whole file and creates its folders. Replaces an existing file, once you have read it, and keeps its mode. Use it for new files and rewrites; to edit a part, use files.replace-text.',
    verb: 'write',
    risk: 'write',
    knownAs: 'write writefile create createfile writetofile savefile',
    input: z.object({
      path,
      content: z.string(),
      encoding: z.enum(['utf8', 'base64']).default('utf8'),
      executable: z.boolean().optional(),
      version: fileVersion
        .nullable()
        .optional()
        .describe('Write only if the file has this version; null: only if there is none.'),
      overwrite: z
        .boolean()
        .default(false)
        .describe('Also overwrite a file whose current content you have not read.'),
    }),
    output: written.extend({
      created: z.boolean(),
      kept: z
        .array(z.string())
        .optional()
        .describe('Properties kept from the old file, such as its CR LF line endings.'),
    }),
    ...aboutPath,
    aliases: { ...pathNames, contents: 'content', filetext: 'content', text: 'content' },
    display: 'edit',
    files: ({ path, version }) => [{ kind: 'shown', path, version }],
  }),
  'files.edit': defineOperation({
    title: 'Edit lines',
    description:
      'Changes lines of a text file by their numbers, as you last read them; an edit shifts the numbers of the lines below it. INSERT puts `content` before line `from` (one past the last line appends); DELETE removes lines `from` to `to`; REPLACE puts `content` in their place. A range outside the file is an error.',
    verb: 'code',
    risk: 'write',
    input: z
      .object({
        path,
        change: lineChange,
        from: line,
        to: line.optional().describe('Last line, inclusive; `from` if omitted.'),
        content: z.array(z.string()).default([]).describe('Lines, without line endings.'),
      })
      .refine(
        (edit) => edit.to === undefined || edit.to >= edit.from,
        'to must not be before from',
      ),
    output: written,
    ...aboutPath,
    aliases: {
      ...pathNames,
      ...rangeNames,
      line: 'from',
      lines: 'content',
      newtext: 'content',
      text: 'content',
    },
    display: 'edit',
    files: ({ path, version, lines }) => [{ kind: 'changed', path, version, lines }],
  }),
  'files.replace-text': defineOperation({
    title: 'Replace text',
    description:
      'Replaces an exact piece of text: best for a small edit. `find` is the text as in the file, with its indentation and enough surrounding lines to be unique. It must occur exactly `count` times; otherwise nothing changes, and the error says where it occurs.',
    risk: 'write',
    knownAs:
      'edit editfile multiedit replace replaceinfile searchreplace strreplace strreplaceeditor strreplacebasededittool texteditor',
    input: z.object({
      path,
      find: z.string().min(1),
      replace: z.string(),
      count: z.int().positive().default(1),
      all: z.boolean().default(false).describe('Replace every occurrence.'),
    }),
    output: written.extend({ replaced: z.int().nonnegative() }),
    ...aboutPath,
    aliases: {
      ...pathNames,
      oldstring: 'find',
      oldstr: 'find',
      oldtext: 'find',
      search: 'find',
      newstring: 'replace',
      newstr: 'replace',
      newtext: 'replace',
      replaceall: 'all',
      expectedreplacements: 'count',
    },
    display: 'edit',
    files: ({ path, version, lines }) => [{ kind: 'changed', path, version, lines }],
  }),
  'files.patch': defineOperation({
    title: 'Patch files',
    description:
      'Applies a unified diff, for edits in many places: `--- a/src/x.js`, `+++ b/src/x.js`, then hunks with `@@ -3,2 +3,3 @@`; /dev/null is the other side of a new or removed file. `*** Begin Patch` and bare `@@` are accepted, too. Each hunk is searched for outward from its stated line; if one fails, nothing changes and the error says why.',
    risk: 'write',
    knownAs: 'applypatch applydiff patch',
    essential: true,
    input: z.object({ patch: z.string().min(1) }),
    output: z.object({
      files: z.array(
        z.object({
          path: z.string(),
          added: z.int().nonnegative(),
          removed: z.int().nonnegative(),
          offsets: z
            .array(z.int())
            .describe('How many lines from its stated place each hunk was found.'),
          before: version,
          version: version.describe('The new version; null if removed.'),
        }),
      ),
    }),
    subjectKind: 'path',
    aliases: { diff: 'patch', input: 'patch', patchtext: 'patch' },
    summary: ({ patch }) => patchedPaths(patch).join(', '),
    display: 'edit',
    paths: (_, output) => output?.files.map((file) => file.path) ?? [],
    files: ({ files }) =>
      files.map(({ path, before, version }) => ({ kind: 'changed', path, before, version })),
  }),
  'files.move': defineOperation({
    title: 'Move a file',
    description: 'Moves or renames a file or folder; does not replace an existing one.',
    risk: 'write',
    knownAs: 'rename renamefile mv movefile',
    essential: true,
    input: z.object({ from: path, to: path }),
    output: z.object({ from: z.string(), to: z.string() }),
    subject: ({ from }) => from,
    subjectKind: 'path',
    aliases: {
      source: 'from',
      src: 'from',
      oldpath: 'from',
      destination: 'to',
      dest: 'to',
      target: 'to',
      newpath: 'to',
    },
    summary: ({ from, to }) => `${from} → ${to}`,
    display: 'edit',
    paths: ({ from, to }) => [from, to],
    files: ({ from, to }) => [{ kind: 'moved', from, to }],
  }),
  'files.remove': defineOperation({
    title: 'Remove a file',
    description: 'Removes a file, or with `recursive` a folder and everything in it.',
    risk: 'write',
    knownAs: 'delete deletefile rm removefile',
    input: z.object({ path, recursive: z.boolean().default(false) }),
    output: z.object({ path: z.string() }),
    ...aboutPath,
    display: 'edit',
    files: ({ path }) => [{ kind: 'shown', path, version: null }],
  }),
  'files.mkdir': defineOperation({
    title: 'Create a folder',
    description: 'Creates a folder and its missing parent folders.',
    risk: 'write',
    knownAs: 'createdirectory mkdir makedir',
    input: z.object({ path }),
    output: z.object({ path: z.string(), created: z.boolean() }),
    ...aboutPath,
    display: 'edit',
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
      limit: z.int().positive().max(2_000).default(200),
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
    }),
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
});
