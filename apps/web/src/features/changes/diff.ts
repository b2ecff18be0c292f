import { quotedName, unquotedName } from '@belay/protocol';

export interface DiffLine {
  kind: ' ' | '+' | '-';
  text: string;
  /** Line numbers before and after the change, from 1; null on the side without the line. */
  before: number | null;
  after: number | null;
}

export interface DiffHunk {
  header: string;
  lines: DiffLine[];
  /** The hunk’s text in the diff, including its header but not that of its file. */
  raw: string;
}

export interface FileDiff {
  path: string;
  from: string | null;
  to: string | null;
  /** The lines before the first hunk, as output by git. */
  header: string;
  hunks: DiffHunk[];
  binary: boolean;
}

/** Splits a unified diff into files and hunks. */
export const parseDiff = (diff: string): FileDiff[] => splitDiff(diff).map(parseFile);

/** Splits a unified diff into one part per file. */
export const splitDiff = (diff: string): string[] =>
  diff.split(/^(?=diff --git )/m).filter((part) => part.startsWith('diff --git '));

/**
 * Returns the patch that undoes one hunk: added lines become removed lines, and vice versa. For a
 * file that was created or deleted, it undoes that too; a renamed file keeps its new name.
 */
export function reversePatch(file: FileDiff, hunk: DiffHunk): string {
  const from = file.to === null ? '/dev/null' : quotedName(`a/${file.to}`);
  const to = file.from === null ? '/dev/null' : quotedName(`b/${file.to ?? file.from}`);
  const lines = hunk.raw.split('\n').slice(1).map(flip);
  const [, before = '', after = '', rest = ''] =
    /^@@ -(\S+) \+(\S+) @@(.*)$/.exec(hunk.header) ?? [];
  return [`--- ${from}`, `+++ ${to}`, `@@ -${after} +${before} @@${rest}`, ...order(lines)].join(
    '\n',
  );
}

export function parseFile(part: string): FileDiff {
  const [head = '', ...bodies] = part.split(/^(?=@@ -)/m);
  return { ...parseHead(head), hunks: bodies.map(parseHunk) };
}

/** Parses the lines before the first hunk. */
export function parseHead(head: string): Omit<FileDiff, 'hunks'> {
  const from = pathIn(head, '---') ?? renamed(head, 'from');
  const to = pathIn(head, '+++') ?? renamed(head, 'to');
  const named = nameOf(head);
  return {
    path: to ?? from ?? named,
    from: head.includes('\nnew file mode') ? null : (from ?? named),
    to: head.includes('\ndeleted file mode') ? null : (to ?? named),
    header: head,
    binary: /^(Binary files|GIT binary patch)/m.test(head),
  };
}

function parseHunk(raw: string): DiffHunk {
  const [header = '', ...body] = raw.replace(/\n$/, '').split('\n');
  const [, first, second] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(header) ?? [];
  let before = Number(first ?? 1);
  let after = Number(second ?? 1);
  const lines = body
    .filter((line) => !line.startsWith('\\'))
    .map((line): DiffLine => {
      const text = line.slice(1);
      if (line.startsWith('+')) return { kind: '+', text, before: null, after: after++ };
      if (line.startsWith('-')) return { kind: '-', text, before: before++, after: null };
      return { kind: ' ', text, before: before++, after: after++ };
    });
  return { header, lines, raw: `${raw.replace(/\n$/, '')}\n` };
}

function pathIn(head: string, sign: '---' | '+++'): string | null {
  const [line] = head.split('\n').filter((each) => each.startsWith(`${sign} `));
  const path = unquotedName(line?.slice(4).replace(/\t.*$/, '') ?? '');
  return !path || path === '/dev/null' ? null : path.replace(/^[ab]\//, '');
}

/** A path of a file that was renamed without changed lines. */
function renamed(head: string, side: 'from' | 'to'): string | null {
  const [, name] = new RegExp(`^rename ${side} (.+)$`, 'm').exec(head) ?? [];
  return name === undefined ? null : unquotedName(name);
}

/** The path of a file without hunks, for example an empty one. */
function nameOf(head: string): string {
  const [, last = ''] = /^diff --git .+? ("b\/.+"|b\/.+)$/m.exec(head) ?? [];
  return unquotedName(last).replace(/^b\//, '');
}

const flip = (line: string): string =>
  line.startsWith('+') ? `-${line.slice(1)}` : line.startsWith('-') ? `+${line.slice(1)}` : line;

/** Puts removed lines before added lines in each run of changes, as patches require. */
function order(lines: readonly string[]): string[] {
  const out: string[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  let target = added;
  for (const line of lines) {
    if (line.startsWith('-')) (target = removed).push(line);
    else if (line.startsWith('+')) (target = added).push(line);
    else if (line.startsWith('\\')) target.push(line);
    else {
      out.push(...removed, ...added, line);
      removed = [];
      added = [];
    }
  }
  return [...out, ...removed, ...added];
}
