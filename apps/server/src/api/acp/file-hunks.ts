export interface FileHunk {
  path: string;
  /** Null for a file that did not exist. */
  oldText: string | null;
  newText: string;
}

const maxHunks = 50;

interface FileChange {
  path: string;
  isNew: boolean;
}

/** The hunks of a unified diff, 50 at most. Takes time in proportion to the diff. */
export function hunksOf(diff: string): FileHunk[] {
  const hunks: OpenHunk[] = [];
  let file: FileChange = { path: '', isNew: false };
  let open: OpenHunk | undefined;
  for (const line of diff.split('\n')) {
    if (line.startsWith('diff --git ')) open = undefined;
    else if (line.startsWith('@@ ')) {
      if (hunks.length >= maxHunks) break;
      open = new OpenHunk(file);
      hunks.push(open);
    } else if (open) open.add(line);
    else file = namedBy(line, file);
  }
  return hunks.map((hunk) => hunk.whole());
}

/** The file after a header line: `---` gives its old name, `+++` its new one. */
function namedBy(line: string, file: FileChange): FileChange {
  if (line.startsWith('--- ')) return { path: line.slice(6), isNew: line === '--- /dev/null' };
  return line.startsWith('+++ b/') ? { ...file, path: line.slice(6) } : file;
}

class OpenHunk {
  readonly #old: string[] = [];
  readonly #new: string[] = [];

  constructor(private readonly file: FileChange) {}

  /** Adds a line of a hunk; lines without a sign are ignored. */
  add(line: string): void {
    const [sign] = line;
    const text = line.slice(1);
    if (sign === ' ' || sign === '-') this.#old.push(text);
    if (sign === ' ' || sign === '+') this.#new.push(text);
  }

  whole(): FileHunk {
    const { path, isNew } = this.file;
    return { path, oldText: isNew ? null : this.#old.join('\n'), newText: this.#new.join('\n') };
  }
}
