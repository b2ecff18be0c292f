import { AppError, type OperationOutput } from '@belay/protocol';
import { FoundMatches, type SearchInput } from './found-matches.js';
import { searchPlainly } from './search-plainly.js';
import { searchWithRipgrep } from './search-with-ripgrep.js';
import type { WorkspaceFolder } from './workspace-folder.js';

export interface Searcher {
  workspace: WorkspaceFolder;
  /** Path of ripgrep; null searches without it. */
  rg: string | null;
}

export async function searchFiles(
  { workspace, rg }: Searcher,
  input: SearchInput,
  signal: AbortSignal,
): Promise<OperationOutput<'files.search'>> {
  if (input.pattern === '' && !input.name) {
    throw new AppError(
      'invalid_input',
      'Give a `pattern` to search for, or a `name` to find files.',
    );
  }
  const found = new FoundMatches(input);
  const search = rg
    ? searchWithRipgrep({ workspace, rg, input }, found, signal)
    : searchPlainly({ workspace, input }, found, signal);
  await search;
  return { matches: found.matches, truncated: found.left > 0, left: found.left };
}
