export interface DiffLines {
  /** Each line of the new file that the change shows, with its number in the old file if it is unchanged. */
  fresh: Map<number, number | null>;
  /** The same for the old file. */
  old: Map<number, number | null>;
}

/** The lines that a patch of one file shows; comments can be only on them. */
export function diffLines(patch: string): DiffLines {
  const shown: DiffLines = { fresh: new Map(), old: new Map() };
  let [old, fresh] = [0, 0];
  for (const line of patch.split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (hunk) {
      [old, fresh] = [Number(hunk[1]), Number(hunk[2])];
    } else if (line.startsWith('+')) {
      shown.fresh.set(fresh++, null);
    } else if (line.startsWith('-')) {
      shown.old.set(old++, null);
    } else if (line.startsWith(' ')) {
      shown.fresh.set(fresh, old);
      shown.old.set(old++, fresh++);
    }
  }
  return shown;
}
