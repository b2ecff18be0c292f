/** What one file went through between two trees. */
export interface Change {
  path: string;
  status: 'added' | 'modified' | 'deleted' | 'renamed';
  added: number;
  removed: number;
  binary: boolean;
}

export const changeArguments = ['--raw', '--numstat', '-z', '--no-abbrev', '--no-ext-diff'];

/** Reads the output of a diff with `changeArguments`: first what happened to each file, then its counts. */
export function parseChanges(output: string): Change[] {
  const fields = output.split('\0');
  const statuses = new Map<string, Change['status']>();
  const changes: Change[] = [];
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] ?? '';
    if (field.startsWith(':')) {
      const letter = field.split(' ')[4]?.[0] ?? 'M';
      const moved = letter === 'R' || letter === 'C';
      at += moved ? 2 : 1;
      statuses.set(fields[at] ?? '', statusOf(letter));
      continue;
    }
    const [, added, removed, name] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(field) ?? [];
    if (added === undefined || removed === undefined || name === undefined) continue;
    if (name === '') at += 2;
    const path = name === '' ? (fields[at] ?? '') : name;
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
