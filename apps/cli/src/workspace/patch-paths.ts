import { unquotedBytes } from '@belay/protocol';

/**
 * Every path that a patch names, as latin1 bytes: `git apply` needs these files. Additional paths do no harm; a
 * missing one makes the patch fail.
 */
export function patchPaths(patch: string): Set<string> {
  return namesIn(patch).paths;
}

/** The files that a patch changes, adds or deletes; a renamed file has its new name. */
export function changedPaths(patch: Uint8Array): string[] {
  const { changed } = namesIn(Buffer.from(patch).toString('latin1'));
  return [...changed].map((path) => Buffer.from(path, 'latin1').toString());
}

function namesIn(patch: string): { paths: Set<string>; changed: Set<string> } {
  const paths = new Set<string>();
  const changed = new Set<string>();
  const add = (name: string | undefined) => name && paths.add(name);
  /** The name of a file that no other line names, such as an empty one. */
  let only: string | undefined;
  let before: string | undefined;
  const change = (name: string | undefined) => {
    if (name) changed.add(name);
    only = undefined;
  };
  for (const line of headerLines(patch)) {
    const [, end, moved] = /^(?:rename|copy) (from|to) (.+)$/s.exec(line) ?? [];
    const [, side, marked] = /^(---|\+\+\+) (.+)$/s.exec(line) ?? [];
    const [, both] = /^diff --git (.+)$/s.exec(line) ?? [];
    if (moved) {
      add(unquotedBytes(moved));
      change(end === 'to' ? unquotedBytes(moved) : undefined);
    }
    if (marked) {
      const name = withoutPrefix(unquotedBytes(marked.replace(/\t[^\t]*$/, '')));
      add(name);
      if (side === '---') before = name;
      else change(name ?? before);
    }
    if (both) {
      const names = namesOf(both).map(withoutPrefix);
      for (const name of names) add(name);
      change(only);
      only = names.find((name) => name !== undefined);
    }
  }
  change(only);
  return { paths, changed };
}

/** The lines of a patch outside of its hunks, whose content may look like header lines. */
function* headerLines(patch: string): Generator<string> {
  const left = { old: 0, new: 0 };
  for (const line of patch.split('\n')) {
    if (left.old > 0 || left.new > 0) {
      if (line.startsWith('\\')) continue;
      if (!line.startsWith('+')) left.old--;
      if (!line.startsWith('-')) left.new--;
      continue;
    }
    const [hunk, old = 1, added = 1] = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line) ?? [];
    if (hunk === undefined) yield line;
    else Object.assign(left, { old: Number(old), new: Number(added) });
  }
}

/** Both names in a `diff --git` line; unquoted names differ only in their prefixes, which are equally long. */
function namesOf(both: string): string[] {
  const quoted = both.match(/"(?:[^"\\]|\\.)*"/gs);
  if (quoted)
    return [...quoted, ...both.split(/"(?:[^"\\]|\\.)*"/s)].map((name) =>
      unquotedBytes(name.trim()),
    );
  const middle = (both.length - 1) / 2;
  return [both.slice(0, middle), both.slice(middle + 1)];
}

const withoutPrefix = (name: string): string | undefined =>
  name === '/dev/null' ? undefined : /^[^/]*\/(.+)$/s.exec(name)?.[1];
