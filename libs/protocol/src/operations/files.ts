import { z } from 'zod';
import { fileVersion, lineHunks, shownParts, type FileNews } from '../file-version.js';
import { defineOperation, operationGroup } from '../operation.js';
import { aboutPath, path, pathNames, rangeNames } from './file-inputs.js';
import { changed, cutLines, edited, newsOf, offsetsIn, version, written } from './file-results.js';
import { findingOperations } from './finding.js';
import { patchedPaths } from './patched-paths.js';

const line = z.int().positive();

/** How an edit changed lines, in the terms of OpenDevin’s `code` event. */
export const lineChange = z.enum(['INSERT', 'DELETE', 'REPLACE']);

export const filesOperations = operationGroup({
  ...findingOperations,
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
        .enum(['windows-1252', 'iso-8859-1', 'shift_jis'])
        .optional()
        .describe('Set if the file is not UTF-8: it is shown and edited in this encoding.'),
      form: z
        .array(z.string())
        .optional()
        .describe('What the text does not show, such as CR LF line ends; edits keep it.'),
      cut: z
        .array(z.object({ line, bytes: z.int().positive() }))
        .optional()
        .describe('Long lines, with their size, of which `content` has only the beginning.'),
      image: z.string().optional().describe('The blob of a picture.'),
    }),
    ...aboutPath,
    aliases: { ...pathNames, ...rangeNames },
    display: 'file',
    images: ({ image }) => (image === undefined ? [] : [image]),
    brief: ({
      path,
      content,
      from,
      to,
      lines,
      size,
      next,
      version,
      charset,
      form,
      cut,
      ...more
    }) => ({
      path,
      // The numbers of lines say the same.
      ...(lines === 0 && { from, to, size }),
      lines,
      ...(next !== null && { next }),
      ...(version !== null && { version }),
      ...(charset && { charset }),
      ...(form && { form: form.join(', ') }),
      ...(cut && { cut: cutLines(cut) }),
      ...more,
      content: content.replace(/^\ufeff/, ''),
    }),
    files: ({ path, version, from, to, lines, cut = [] }) => {
      if (version === null) return [];
      const isWhole = lines === 0 || (from === 1 && to >= lines && cut.length === 0);
      const parts = isWhole ? {} : { parts: shownParts({ from, to }, cut) };
      return [{ kind: 'shown', path, version, ...parts }];
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
    brief: ({ path, lines, created, kept }) => ({ path, lines, created, ...(kept && { kept }) }),
    files: ({ path, version }) => [{ kind: 'written', path, version }],
  }),
  'files.edit': defineOperation({
    title: 'Edit lines',
    description:
      'Changes lines of a text file by their numbers, as you were last shown them; calls of one reply do not shift each other’s numbers. INSERT puts `content` before line `from` (one past the last line appends); DELETE removes lines `from` to `to`; REPLACE puts `content` in their place. A range outside the file is an error.',
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
    output: edited,
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
    brief: ({ path, lines, now }) => ({ path, lines, now }),
    files: newsOf,
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
    output: edited.extend({
      replaced: z.int().nonnegative(),
      meanwhile: z
        .object({
          text: z.string().describe('The lines that others changed, with their numbers then.'),
          version: fileVersion,
          hunks: lineHunks,
        })
        .optional()
        .describe('What others had changed in the file since you last read it.'),
    }),
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
    brief: ({ path, lines, replaced, now, meanwhile }) => ({
      path,
      lines,
      ...(replaced !== 1 && { replaced }),
      now,
      ...(meanwhile && { 'others changed, with the numbers before this call': meanwhile.text }),
    }),
    files: ({ meanwhile, ...output }) => [
      ...(meanwhile?.hunks ? [{ kind: 'told', path: output.path, ...meanwhile } as const] : []),
      ...newsOf(output).map((news) =>
        meanwhile && news.kind === 'changed' ? { ...news, before: meanwhile.version } : news,
      ),
    ],
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
          ...changed,
        }),
      ),
    }),
    subjectKind: 'path',
    aliases: { diff: 'patch', input: 'patch', patchtext: 'patch' },
    summary: ({ patch }) => patchedPaths(patch).join(', '),
    display: 'edit',
    brief: ({ files }) => ({
      files: files.map(({ path, added, removed, version }) =>
        version === null ? `${path} was removed` : `${path}: +${added} −${removed}`,
      ),
      ...offsetsIn(files),
      now: files
        .filter(({ now }) => now !== '')
        .map(({ path, now }) => `${path}:\n${now}`)
        .join('\n'),
    }),
    paths: (_, output) => output?.files.map((file) => file.path) ?? [],
    files: ({ files }) =>
      files.flatMap((file): FileNews[] => {
        const { path, before, version } = file;
        if (version === null) return [{ kind: 'written', path, version }];
        return newsOf(file).map((news) => (news.kind === 'changed' ? { ...news, before } : news));
      }),
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
    files: ({ path }) => [{ kind: 'written', path, version: null }],
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
});
