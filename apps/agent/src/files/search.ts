import {
  AppError,
  type OperationInput,
  type OperationOutput,
  type filesOperations,
} from '@belay/protocol';
import { searchPlainly } from './search-plainly.js';
import { searchWithRipgrep } from './search-with-ripgrep.js';
import type { WorkspaceFolder } from './workspace-folder.js';

export type Search = (typeof filesOperations)['files.search'];
export type SearchInput = OperationInput<Search>;
export type Match = OperationOutput<Search>['matches'][number];

const maxText = 200_000;
const maxLine = 500;

export interface Searcher {
  workspace: WorkspaceFolder;
  /** Path of ripgrep; null searches without it. */
  rg: string | null;
}

export async function searchFiles(
  { workspace, rg }: Searcher,
  input: SearchInput,
  signal: AbortSignal,
): Promise<OperationOutput<Search>> {
  if (input.pattern === '' && input.name === undefined) {
    throw new AppError(
      'invalid_input',
      'Give a `pattern` to search for, or a `name` to find files by.',
    );
  }
  const found = new Found(input.limit);
  const search = rg
    ? searchWithRipgrep({ workspace, rg, input }, found, signal)
    : searchPlainly({ workspace, input }, found, signal);
  await search;
  return { matches: found.matches, truncated: found.truncated };
}

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
