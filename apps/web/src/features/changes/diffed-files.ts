import type { OperationOutput } from '@belay/protocol';
import { byTreeOrder } from '@/lib/file-tree';
import { parseFile, parseHead, splitDiff, type FileDiff } from './diff';

export interface DiffedFile {
  path: string;
  status: 'added' | 'modified' | 'deleted' | 'renamed';
  added: number;
  removed: number;
  binary: boolean;
  /** Its part of the diff; undefined if the diff was truncated before its end. */
  part: string | undefined;
}

/** All changed files in the order of their tree, including those missing from a truncated diff. */
export function diffedFiles({
  diff,
  truncated,
  files,
}: OperationOutput<'workspace.diff'>): DiffedFile[] {
  const parts = splitDiff(diff);
  // The last part of a truncated diff may be incomplete.
  const whole = truncated ? parts.slice(0, -1) : parts;
  const byPath = new Map(whole.map((part) => [parseHead(headOf(part)).path, part]));
  return inTreeOrder(files.map((file) => ({ ...file, part: byPath.get(file.path) })));
}

/** All changed files of a patch, which has no list of them. */
export const filesOfPatch = (patch: string): DiffedFile[] =>
  inTreeOrder(splitDiff(patch).map(fileOf));

const inTreeOrder = (files: DiffedFile[]): DiffedFile[] =>
  files.toSorted((a, b) => byTreeOrder(a.path, b.path));

const parsed = new Map<string, FileDiff>();
const mostParsed = 500;

/** Caches up to `mostParsed` parsed files, then starts over. */
export function fileDiff(part: string): FileDiff {
  const known = parsed.get(part);
  if (known) return known;
  if (parsed.size >= mostParsed) parsed.clear();
  const file = parseFile(part);
  parsed.set(part, file);
  return file;
}

function fileOf(part: string): DiffedFile {
  const head = headOf(part);
  const { path, from, to, binary } = parseHead(head);
  const lines = part.slice(head.length).split('\n');
  const count = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return { path, status: statusOf(from, to), added: count('+'), removed: count('-'), binary, part };
}

function statusOf(from: string | null, to: string | null): DiffedFile['status'] {
  if (from === null) return 'added';
  if (to === null) return 'deleted';
  return from === to ? 'modified' : 'renamed';
}

function headOf(part: string): string {
  const end = part.indexOf('\n@@ -');
  return end < 0 ? part : part.slice(0, end + 1);
}
