import { AppError } from '@belay/protocol';
import { toText } from '../lines.js';
import type { FilePatch } from './file-patch.js';
import { parseBareHunk } from './parse-bare-hunk.js';
import { parseHunk, type PatchHunk } from './parse-hunk.js';

const begin = /^\*\*\* Begin Patch\s*$/;
const header = /^\*\*\* (Add|Update|Delete) File: (.*)$/;
const move = /^\*\*\* Move to: (.*)$/;

/** Whether lines contain a patch in the Codex format. */
export const isEnvelope = (lines: readonly string[]): boolean =>
  lines.some((line) => begin.test(line)) || lines.some((line) => header.test(line));

/**
 * Reads `*** Begin Patch … *** End Patch`, the Codex format: files that are added, updated (and moved) or deleted,
 * with hunks without line numbers. Surrounding text, such as a heredoc, is skipped.
 */
export function parseEnvelope(lines: readonly string[]): FilePatch[] {
  const files: FilePatch[] = [];
  let at = lines.findIndex((line) => header.test(line));
  while (at >= 0 && at < lines.length) {
    const line = lines[at] ?? '';
    if (/^\*\*\* End Patch\s*$/.test(line)) break;
    const [, action, name = ''] = header.exec(line) ?? [];
    if (action === undefined) {
      if (line.trim() !== '') throw misplaced(line, at);
      at++;
      continue;
    }
    const path = toText(name.trim());
    const read = action === 'Add' ? readAdded : action === 'Delete' ? readDeleted : readUpdated;
    const { file, next } = read(lines, at + 1, path);
    files.push(file);
    at = next;
  }
  return files;
}

type Read = (
  lines: readonly string[],
  at: number,
  path: string,
) => { file: FilePatch; next: number };

const readAdded: Read = (lines, start, path) => {
  const hunk: PatchHunk = { start: 0, anchors: [], atEnd: false, lines: [] };
  let at = start;
  for (; (lines[at] ?? '').startsWith('+'); at++) {
    hunk.lines.push({ kind: '+', text: `${(lines[at] ?? '').slice(1)}\n` });
  }
  const hunks = hunk.lines.length > 0 ? [hunk] : [];
  return { file: { ...unchanged, from: null, to: path, hunks }, next: at };
};

const readDeleted: Read = (_, start, path) => ({
  file: { ...unchanged, from: path, to: null, whole: true },
  next: start,
});

const readUpdated: Read = (lines, start, path) => {
  const moved = move.exec(lines[start] ?? '')?.[1];
  const hunks: PatchHunk[] = [];
  let at = moved === undefined ? start : start + 1;
  while (at < lines.length && !(lines[at] ?? '').startsWith('*** ')) {
    if ((lines[at] ?? '').trim() === '') {
      at++;
      continue;
    }
    const numbered = /^@@ -\d/.test(lines[at] ?? '');
    const { hunk, next } = numbered ? parseHunk(lines, at) : parseBareHunk(lines, at);
    hunks.push(hunk);
    at = next;
  }
  const to = moved === undefined ? path : toText(moved.trim());
  return { file: { ...unchanged, from: path, to, hunks }, next: at };
};

const unchanged = { copy: false, mode: null, whole: false, hunks: [] };

const misplaced = (line: string, at: number): AppError =>
  new AppError(
    'invalid_input',
    `Line ${at + 1} of the patch belongs to no file: ${toText(line.slice(0, 80))}. Begin each with \`*** Add File:\`, \`*** Update File:\` or \`*** Delete File:\` and its path; lines of a new file begin with +. Nothing was changed.`,
  );
