import type { PrivateRepository } from '@belay/host';
import { AppError } from '@belay/protocol';
import type { PushedFile } from '../pushed-files.js';

/** Successive lines, from 1, both included. */
export interface LineRange {
  start: number;
  end: number;
}

/** Lines that one commit brought in. */
export interface AuthoredRange extends LineRange {
  commit: string;
}

interface Between {
  from: string;
  to: string;
}

const maxBytes = 8 * 2 ** 20;

/** Reads which lines of files were added, and by which commit of a chain. */
export class LineAuthors {
  constructor(
    private readonly repository: PrivateRepository,
    private readonly signal: AbortSignal,
  ) {}

  /** The lines of a file that are not in the earlier commit or tree. */
  async added(
    { path, from: before = path, status }: PushedFile,
    { from, to }: Between,
  ): Promise<LineRange[]> {
    const old =
      status === 'added' ? await this.repository.addBlob(new Uint8Array()) : `${from}:${before}`;
    const plain = ['--no-ext-diff', '--no-textconv', '--no-color', '--unified=0'];
    const output = await this.#run(['diff', ...plain, old, `${to}:${path}`, '--']);
    return [...output.matchAll(/^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/gm)].flatMap(
      ([, first, count = '1']) =>
        count === '0' ? [] : [{ start: Number(first), end: Number(first) + Number(count) - 1 }],
    );
  }

  /** The commits of these lines, which are in order, as a file has them at a commit. */
  async of(
    { path }: PushedFile,
    { at, lines }: { at: string; lines: readonly LineRange[] },
  ): Promise<AuthoredRange[]> {
    const output = await this.#run(['blame', '--incremental', at, '--', path]);
    const found = [...output.matchAll(/^([0-9a-f]{40}) \d+ (\d+) (\d+)$/gm)]
      .map(([, commit = '', first, count]) => ({
        commit,
        start: Number(first),
        end: Number(first) + Number(count) - 1,
      }))
      .toSorted((a, b) => a.start - b.start);
    return overlaps(lines, found);
  }

  async #run(args: readonly string[]): Promise<string> {
    const { code, output } = await this.repository.run(args, { maxBytes, signal: this.signal });
    if (code === 0) return output.toString('latin1');
    throw new AppError('internal', 'Git could not compare the lines of a file.');
  }
}

/** Both are in order. */
function overlaps(lines: readonly LineRange[], found: readonly AuthoredRange[]): AuthoredRange[] {
  const ranges: AuthoredRange[] = [];
  let next = 0;
  for (const { start, end } of lines) {
    while ((found[next]?.end ?? Infinity) < start) next += 1;
    let at = next;
    for (let one = found[at]; one && one.start <= end; one = found[at]) {
      const { commit } = one;
      ranges.push({ commit, start: Math.max(one.start, start), end: Math.min(one.end, end) });
      at += 1;
    }
  }
  return ranges;
}
