import type { OperationInput, OperationOutput, filesOperations } from '@belay/protocol';

export type Search = (typeof filesOperations)['files.search'];
export type SearchInput = OperationInput<Search>;
type Match = OperationOutput<Search>['matches'][number];

const maxText = 200_000;
const maxLine = 500;

/** Collects matches up to the limits of an answer. */
export class Found {
  readonly matches: Match[] = [];
  truncated = false;
  private hits = 0;
  private characters = 0;

  constructor(private readonly limit: number) {}

  /** False when the answer is full and the search can end. Context lines do not count against the limit. */
  add(match: Match, context = false): boolean {
    if (this.truncated) return false;
    const text = shorten(match.text);
    const full = (!context && this.hits === this.limit) || this.characters + text.length > maxText;
    if (full) {
      this.truncated = true;
      return false;
    }
    if (!context) this.hits++;
    this.characters += text.length + match.path.length;
    this.matches.push({ ...match, text });
    return true;
  }
}

function shorten(text: string): string {
  const line = text.replace(/\r?\n$/, '');
  return line.length <= maxLine ? line : `${line.slice(0, maxLine)}…`;
}
