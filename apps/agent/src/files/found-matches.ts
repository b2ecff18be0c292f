import type { OperationInput, OperationOutput } from '@belay/protocol';

export type SearchInput = OperationInput<'files.search'>;
type Match = OperationOutput<'files.search'>['matches'][number];

const maxText = 200_000;
const maxLine = 500;
/** Characters of a long line that are shown before its match. */
const lead = 150;
/** The limit up to which unlisted matches are counted. */
const maxCounted = 10_000;

export interface FoundLine {
  path: string;
  line: number;
  text: string;
  /** The match’s position in `text`; undefined for a context line. */
  at?: number | undefined;
}

/** Collects matches up to a result’s limits, and counts the rest. */
export class FoundMatches {
  readonly #limit: number;
  readonly #withContext: boolean;
  readonly matches: Match[] = [];
  /** The number of matches that are not listed. */
  left = 0;
  #hits = 0;
  #characters = 0;

  constructor({ limit, context }: Pick<SearchInput, 'limit' | 'context'>) {
    this.#limit = limit;
    this.#withContext = context > 0;
  }

  /**
   * False when the search can end, because enough was found and counted. Context lines do not count against the limit.
   */
  add({ path, line, text, at }: FoundLine): boolean {
    const isMatch = at !== undefined;
    const shown = shorten(text, at ?? 0);
    const full = this.left > 0 || this.#characters + shown.length > maxText;
    if (full || (isMatch && this.#hits === this.#limit)) {
      if (isMatch) this.left++;
      return this.left < maxCounted;
    }
    if (isMatch) this.#hits++;
    this.#characters += shown.length + path.length;
    this.matches.push({
      path,
      line,
      ...(this.#withContext && { match: isMatch }),
      text: shown,
    });
    return true;
  }
}

/** A line without its end; of a long one, the part around the match. */
function shorten(text: string, at: number): string {
  const line = text.replace(/\r?\n$/, '');
  if (line.length <= maxLine) return line;
  const start = Math.max(0, Math.min(at - lead, line.length - maxLine));
  const end = start + maxLine;
  const part = line.slice(start, end).toWellFormed();
  return `${start > 0 ? '…' : ''}${part}${end < line.length ? '…' : ''}`;
}
