import { createContext, Script } from 'node:vm';
import { AppError, globMatcher } from '@belay/protocol';
import { charsetOf, decodeText } from './charset.js';
import { throwIfAborted } from './fault.js';
import { load, maxEditable, statsAt } from './file-bytes.js';
import type { FoundMatches, SearchInput } from './found-matches.js';
import { isBinary } from './text.js';
import { walkTree } from './walk-tree.js';
import type { WorkspaceFolder } from './workspace-folder.js';

const maxDepth = 200;
/** Time limit for each file, because an expression may backtrack endlessly. */
const fileMilliseconds = 1_000;

interface Task {
  workspace: WorkspaceFolder;
  input: SearchInput;
}

/** The search without ripgrep: slower, with JavaScript’s regular expressions. */
export async function searchPlainly(
  task: Task,
  found: FoundMatches,
  signal: AbortSignal,
): Promise<void> {
  const { input } = task;
  const named = !input.name
    ? null
    : globMatcher(input.name, { anchored: input.name.includes('/') });
  const find = input.pattern === '' ? null : matcher(input);
  for await (const path of filesBelow(task, signal)) {
    throwIfAborted(signal);
    if (named && !named(path)) continue;
    const goOn = find
      ? addMatches(path, await linesOf(task.workspace, path), {
          find,
          found,
          context: input.context,
        })
      : found.add({ path, line: 0, text: '', at: 0 });
    if (!goOn) return;
  }
}

async function* filesBelow(
  { workspace, input }: Task,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const top = await workspace.reach(input.path, async (place) => {
    const stats = await statsAt(place);
    if (!stats) throw new AppError('not_found', `${input.path} does not exist.`);
    return { path: place.path, isFile: stats.isFile() };
  });
  if (top.isFile) {
    yield top.path;
    return;
  }
  const options = { path: top.path, depth: maxDepth, hidden: false, signal };
  for await (const entry of walkTree(workspace, options, () => undefined)) {
    if (entry.kind === 'file' && entry.size <= maxEditable) yield entry.path;
  }
}

async function linesOf(workspace: WorkspaceFolder, path: string): Promise<string[]> {
  const loaded = await workspace.reach(path, load).catch((error: unknown) => {
    if (error instanceof AppError) return null; // Gone meanwhile, or closed to us.
    throw error;
  });
  if (!loaded || isBinary(loaded.bytes)) return [];
  return decodeText(loaded.bytes, charsetOf(loaded.bytes)).split(/\r?\n/);
}

/** The position of each line’s first match, by the index of the line. */
type Find = (lines: readonly string[]) => Map<number, number>;

/** Returns a function that finds matching lines. */
function matcher(input: SearchInput): Find {
  const source = input.literal ? escapeExpression(input.pattern) : input.pattern;
  let expression: RegExp;
  try {
    expression = new RegExp(source, input.ignoreCase ? 'iu' : 'u');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new AppError('invalid_input', `The search failed: ${reason}`);
  }
  const script = new Script(
    'lines.flatMap((line, index) => [expression.exec(line)].map((hit) => hit && [index, hit.index]).filter(Boolean))',
  );
  return (lines) => {
    try {
      const context = createContext({ lines, expression });
      const hits: unknown = script.runInContext(context, { timeout: fileMilliseconds });
      return new Map(hits as [number, number][]);
    } catch {
      throw new AppError(
        'timeout',
        'The expression takes too long; make it simpler, or set `literal`.',
      );
    }
  };
}

const escapeExpression = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

interface Collect {
  find: Find;
  found: FoundMatches;
  context: number;
}

function addMatches(
  path: string,
  lines: readonly string[],
  { find, found, context }: Collect,
): boolean {
  const hits = find(lines);
  const shown = new Set<number>();
  for (const hit of hits.keys()) {
    for (let index = hit - context; index <= hit + context; index++) {
      if (index < 0 || index >= lines.length || shown.has(index)) continue;
      shown.add(index);
      const text = lines[index] ?? '';
      if (!found.add({ path, line: index + 1, text, at: hits.get(index) })) return false;
    }
  }
  return true;
}
