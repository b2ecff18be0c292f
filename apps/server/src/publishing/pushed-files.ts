import { AppError, ownValue, type PreparedPublish } from '@belay/protocol';
import { isSafePath, type PrivateRepository } from '@belay/host';

export type PushedFile = PreparedPublish['files'][number];

const maxFiles = 10_000;
/** Of each of the two lists that git prints. */
const maxListBytes = 16 * 2 ** 20;

/**
 * The difference between two trees, as compared by git; the sandbox’s own claims about its changes are not used.
 * Throws `forbidden` for a path that a checkout must not contain, and for a submodule.
 */
export async function pushedFiles(
  repository: PrivateRepository,
  { from, to, signal }: { from: string; to: string; signal: AbortSignal },
): Promise<PushedFile[]> {
  const args = ['diff-tree', '-r', '-z', '-M', '--no-commit-id', '--no-ext-diff'];
  const { code, output } = await repository.run([...args, '--raw', '--numstat', from, to], {
    maxBytes: 2 * maxListBytes,
    signal,
  });
  if (code !== 0) throw new AppError('internal', 'Git could not compare the change.');
  const { changes, rest } = listedChanges(output.toString('utf8').split('\0'));
  const lines = linesOf(rest);
  const files = changes.map((change) => fileOf(change, lines));
  if (files.length > maxFiles)
    throw new AppError('too_large', `More than ${maxFiles} files changed. Publish less at once.`);
  return files;
}

/** By path, from `added TAB removed TAB path`; renames have an empty path and two more fields. */
function linesOf(
  fields: readonly string[],
): Map<string, [added: number | null, removed: number | null]> {
  const lines = new Map<string, [number | null, number | null]>();
  for (let at = 0; at < fields.length; at++) {
    const [, added, removed, path] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(fields[at] ?? '') ?? [];
    if (path === undefined) continue;
    const name = path === '' ? (fields[at + 2] ?? '') : path;
    if (path === '') at += 2;
    const count = (text = '-'): number | null => (text === '-' ? null : Number(text));
    lines.set(name, [count(added), count(removed)]);
  }
  return lines;
}

interface ListedChange {
  path: string;
  from: string;
  mode: string;
  letter: string;
}

/** The changes that git lists first, and the fields after them. Names of files are taken by their place alone. */
function listedChanges(fields: readonly string[]): { changes: ListedChange[]; rest: string[] } {
  const changes: ListedChange[] = [];
  for (let at = 0; ; at++) {
    const [, mode, letter] =
      /^:\d{6} (\d{6}) [0-9a-f]+ [0-9a-f]+ ([A-Z])\d*$/.exec(fields[at] ?? '') ?? [];
    if (mode === undefined || letter === undefined) return { changes, rest: fields.slice(at) };
    const from = fields[++at] ?? '';
    const path = letter === 'R' || letter === 'C' ? (fields[++at] ?? '') : from;
    changes.push({ path, from, mode, letter });
  }
}

function fileOf(
  { path, from, mode, letter }: ListedChange,
  lines: ReturnType<typeof linesOf>,
): PushedFile {
  assertPlain(path, mode);
  const [added = null, removed = null] = lines.get(path) ?? [];
  const status = ownValue(statuses, letter) ?? 'changed';
  return { path, status, added, removed, ...(letter === 'R' && { from }) };
}

const statuses: Readonly<Record<string, PushedFile['status']>> = {
  A: 'added',
  C: 'added',
  D: 'deleted',
  R: 'renamed',
};

function assertPlain(path: string, mode: string): void {
  const named = JSON.stringify(path.slice(0, 200));
  if (!isSafePath(path)) throw new AppError('forbidden', `${named} is not a path for a file.`);
  if (mode === '160000')
    throw new AppError('forbidden', `${named} is a submodule, which is not published.`);
}
