/** The change of one file between two trees. */
export interface Change {
  path: string;
  status: 'added' | 'modified' | 'deleted' | 'renamed';
  added: number;
  removed: number;
  binary: boolean;
}

export const changeArguments = ['--raw', '--numstat', '-z', '--no-abbrev', '--no-ext-diff'];

/** Parses the output of a diff with `changeArguments`: the kind of each file’s change, then the line counts. */
export function parseChanges(output: string): Change[] {
  const fields = output.split('\0').values();
  const next = (): string => fields.next().value ?? '';
  const statuses = new Map<string, Change['status']>();
  const changes: Change[] = [];
  for (const field of fields) {
    if (field.startsWith(':')) {
      const letter = field.split(' ')[4]?.[0] ?? 'M';
      // The old path of a file that moved comes first.
      if (letter === 'R' || letter === 'C') next();
      statuses.set(next(), statusOf(letter));
      continue;
    }
    const [, added, removed, name] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(field) ?? [];
    if (name === undefined) continue;
    if (name === '') next();
    const path = name || next();
    changes.push({
      path,
      status: statuses.get(path) ?? 'modified',
      added: Number(added) || 0,
      removed: Number(removed) || 0,
      binary: added === '-',
    });
  }
  return changes;
}

function statusOf(letter: string): Change['status'] {
  if (letter === 'A' || letter === 'C') return 'added';
  if (letter === 'D') return 'deleted';
  return letter === 'R' ? 'renamed' : 'modified';
}
