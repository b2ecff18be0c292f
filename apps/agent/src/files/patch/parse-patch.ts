import { AppError, unquotedBytes } from '@belay/protocol';
import { toBytes, toText } from '../lines.js';
import type { FilePatch } from './file-patch.js';
import { parseBareHunk } from './parse-bare-hunk.js';
import { isEnvelope, parseEnvelope } from './parse-envelope.js';
import { parseHunk, type PatchHunk } from './parse-hunk.js';

/**
 * Reads a unified diff, as `diff -u` and git write it, or the Codex format; surrounding text (mail, prose) is skipped.
 */
export function parsePatch(patch: string): FilePatch[] {
  const lines = toBytes(patch).split('\n');
  if (lines.at(-1) === '') lines.pop();
  const files: FilePatch[] = isEnvelope(lines) ? parseEnvelope(lines) : [];
  let at = files.length > 0 ? lines.length : 0;
  while (at < lines.length) {
    const reader = new FileReader(lines, at);
    const file = reader.read();
    if (file) files.push(file);
    at = reader.at;
  }
  if (files.length > 0) return files;
  throw new AppError(
    'invalid_input',
    'The patch changes nothing: no `--- a/file`, `+++ b/file`, `@@ … @@` was found in it.',
  );
}

class FileReader {
  readonly #lines: readonly string[];
  #git = false;
  #from: string | null | undefined;
  #to: string | null | undefined;
  #mode: number | null = null;
  #renamed = false;
  #copy = false;
  readonly #hunks: PatchHunk[] = [];

  constructor(
    lines: readonly string[],
    public at: number,
  ) {
    this.#lines = lines;
  }

  /** Reads up to the next file; undefined if only other text follows. */
  read(): FilePatch | undefined {
    for (; this.at < this.#lines.length; this.at++) {
      const line = header(this.#lines[this.at]);
      if (line.startsWith('diff --git ')) {
        if (this.#git || this.#hunks.length > 0) break;
        this.#beginGit(line);
      } else if (this.#startsPlain(line)) {
        if (this.#hunks.length > 0) break;
        this.#from = pathOf(line.slice(4), 'a/', this.#git);
        this.#to = pathOf(header(this.#lines[this.at + 1]).slice(4), 'b/', this.#git);
        this.at++;
      } else if (line.startsWith('@@')) {
        this.#addHunk();
      } else if (this.#git && this.#hunks.length === 0) {
        this.#extended(line);
      }
    }
    return this.#finish();
  }

  #startsPlain(line: string): boolean {
    return line.startsWith('--- ') && header(this.#lines[this.at + 1]).startsWith('+++ ');
  }

  #beginGit(line: string): void {
    this.#git = true;
    const paths = gitPaths(line.slice('diff --git '.length));
    this.#from = paths?.[0];
    this.#to = paths?.[1];
  }

  #addHunk(): void {
    if (this.#from === undefined && this.#to === undefined) {
      throw new AppError(
        'invalid_input',
        `Line ${this.at + 1} of the patch begins a hunk, but no file is named before it (\`--- a/file\`, \`+++ b/file\`).`,
      );
    }
    const numbered = /^@@ -\d/.test(this.#lines[this.at] ?? '');
    const { hunk, next } = (numbered ? parseHunk : parseBareHunk)(this.#lines, this.at);
    this.#hunks.push(hunk);
    this.at = next - 1;
  }

  /** Git’s extended header lines. */
  #extended(line: string): void {
    if (line === 'GIT binary patch' || /^Binary files .* differ$/.test(line)) {
      throw new AppError(
        'invalid_input',
        `The patch changes the binary file ${this.#to ?? this.#from}: write it with files.write and encoding base64. Nothing was changed.`,
      );
    }
    this.#readMove(line);
    this.#readMode(line);
  }

  #readMove(line: string): void {
    const [, how, end, value = ''] = /^(rename|copy) (from|to) (.*)$/.exec(line) ?? [];
    if (how === undefined) return;
    if (how === 'copy') this.#copy = true;
    else this.#renamed = true;
    const path = toText(unquotedBytes(value));
    if (end === 'from') this.#from = path;
    else this.#to = path;
  }

  #readMode(line: string): void {
    const [, of, mode = ''] = /^(new|new file|deleted file) mode (.*)$/.exec(line) ?? [];
    if (of === 'new' || of === 'new file') this.#mode = modeOf(mode);
    if (of === 'new file') this.#from = null;
    if (of === 'deleted file') this.#to = null;
  }

  #finish(): FilePatch | undefined {
    const [from, to, mode, copy] = [this.#from, this.#to, this.#mode, this.#copy];
    const hunks = this.#hunks;
    if (from === undefined || to === undefined) return undefined;
    if (from === null && to === null) return undefined;
    const empty = hunks.length === 0 && mode === null && !this.#renamed && !copy;
    if (empty && from !== null && to !== null) return undefined;
    return { from, to, mode, copy, hunks, whole: false };
  }
}

/** Header lines may end in CR when the whole patch has CR LF ends. */
const header = (line: string | undefined): string => (line ?? '').replace(/\r$/, '');

function modeOf(octal: string): number {
  if (/^1006?[0-7]{2,3}$/.test(octal)) return Number.parseInt(octal.slice(-3), 8);
  throw new AppError(
    'invalid_input',
    `The patch makes a file of mode ${octal}, a link or a submodule: only plain files can be patched. Nothing was changed.`,
  );
}

/** The path in a `---` or `+++` line, without git’s prefix and without a time after a tab. */
function pathOf(text: string, prefix: string, git: boolean): string | null {
  const path = text.startsWith('"') ? unquotedBytes(text) : (text.split('\t')[0] ?? '');
  if (path === '/dev/null') return null;
  const strip = path.startsWith(prefix) || (git && /^[a-z]\//.test(path));
  return toText(strip ? path.slice(2) : path);
}

/** Both paths of `a/x b/x` after `diff --git`; without quotes they can be separated only if they are equal. */
export function gitPaths(text: string): [string, string] | null {
  const quoted = /^("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)$/.exec(text);
  const half = (text.length - 1) / 2;
  const pair: [string, string] | null = quoted
    ? [quoted[1] ?? '', quoted[2] ?? '']
    : text.slice(2, half) === text.slice(half + 3) && text[half] === ' '
      ? [text.slice(0, half), text.slice(half + 1)]
      : null;
  return pair && [toText(unquotedBytes(pair[0]).slice(2)), toText(unquotedBytes(pair[1]).slice(2))];
}
