import { AppError, ignoreError, type OperationOutput } from '@belay/protocol';
import { throwIfAborted } from './fault.js';
import { loadSmall } from './file-bytes.js';
import { FoundMatches, type SearchInput } from './found-matches.js';
import { textLines, withoutEnd } from './lines.js';
import { searchPlainly } from './search-plainly.js';
import { searchWithRipgrep } from './search-with-ripgrep.js';
import { versionOf } from './version-of.js';
import type { WorkspaceFolder } from './workspace-folder.js';
import { textFormOf } from './written-file.js';

export interface Searcher {
  workspace: WorkspaceFolder;
  /** Path of ripgrep; null searches without it. */
  rg: string | null;
  /** Whether the files of the matches are to be identified, by reading them, for a caller that will edit them. */
  identifies: boolean;
}

export async function searchFiles(
  { workspace, rg, identifies }: Searcher,
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
  const { matches, left } = found;
  const versions = identifies ? await versionsOf(workspace, matches, signal) : undefined;
  return { matches, truncated: left > 0, left, ...(versions && { versions }) };
}

/** More files are not identified: a search that finds lines in so many is not for editing them. */
const mostFiles = 40;

type Matches = OperationOutput<'files.search'>['matches'];

/** The versions of files that still have all the lines that were found in them, in full. */
async function versionsOf(
  workspace: WorkspaceFolder,
  matches: Matches,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const paths = [...new Set(matches.filter(({ line }) => line > 0).map(({ path }) => path))];
  const found: [string, string][] = [];
  for (const path of paths.slice(0, mostFiles)) {
    throwIfAborted(signal);
    const shown = matches.filter((match) => match.path === path);
    const bytes = await workspace.reach(path, loadSmall).catch(ignoreError('it is gone by now'));
    if (bytes && hasLines(bytes, shown)) found.push([path, versionOf(bytes)]);
  }
  return Object.fromEntries(found);
}

function hasLines(bytes: Buffer, shown: Matches): boolean {
  const lines = textLines(bytes);
  const { toText } = textFormOf(bytes, '');
  return shown.every(({ line, text }) => toText(withoutEnd(lines[line - 1] ?? '')) === text);
}
