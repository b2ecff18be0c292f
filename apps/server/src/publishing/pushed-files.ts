import { AppError, ownValue, type PreparedPublish } from '@belay/protocol';
import { isSafePath, type PrivateRepository } from '@belay/host';

export type PushedFile = PreparedPublish['files'][number];

const maxFiles = 10_000;
const maxListBytes = 16 * 2 ** 20;

/**
 * The difference between two trees, as compared by git; the sandbox’s own claims about its changes are not used.
 * Throws `forbidden` for a path that a checkout must not contain, and for a submodule.
 */
export async function pushedFiles(
  repository: PrivateRepository,
  { from, to, signal }: { from: string; to: string; signal: AbortSignal },
): Promise<PushedFile[]> {
  const list = async (format: string): Promise<string[]> => {
    const args = ['diff-tree', '-r', '-z', '-M', '--no-commit-id', '--no-ext-diff', format];
    const { code, output } = await repository.run([...args, from, to], {
      maxBytes: maxListBytes,
      signal,
    });
    if (code !== 0) throw new AppError('internal', 'Git could not compare the change.');
    return output.toString('utf8').split('\0');
  };
  const lines = linesOf(await list('--numstat'));
  const files = filesOf(await list('--raw'), lines);
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

function filesOf(fields: readonly string[], lines: ReturnType<typeof linesOf>): PushedFile[] {
  const files: PushedFile[] = [];
  for (let at = 0; at < fields.length; at++) {
    const [, mode, letter] =
      /^:\d{6} (\d{6}) [0-9a-f]+ [0-9a-f]+ ([A-Z])\d*$/.exec(fields[at] ?? '') ?? [];
    if (mode === undefined || letter === undefined) continue;
    const first = fields[++at] ?? '';
    const path = letter === 'R' || letter === 'C' ? (fields[++at] ?? '') : first;
    assertPlain(path, mode);
    const [added = null, removed = null] = lines.get(path) ?? [];
    const status = ownValue(statuses, letter) ?? 'changed';
    files.push({ path, status, added, removed, ...(letter === 'R' && { from: first }) });
  }
  return files;
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
