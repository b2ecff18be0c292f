import { newEvent, pluralText, type NewEvent } from '@belay/protocol';
import { differingRun, type ChangedLines } from '../differing-run.js';
import { splitLines, toText, withoutEnd } from './lines.js';

const maxLines = 400;
const maxCharacters = 32_000;

/** The smallest range of lines in which two texts differ; null if they are equal. */
export function changedLines(before: string, after: string): ChangedLines | null {
  if (before === after) return null;
  return differingRun(splitLines(before), splitLines(after));
}

/** The `code` event for changed lines; null for a binary change. */
export function codeEvent(
  call: string,
  { path, version }: { path: string; version?: string | null | undefined },
  region: ChangedLines | null,
): NewEvent {
  const { line, added, removed } = region ?? { line: 0, added: [], removed: 0 };
  const change =
    !region || (added.length > 0 && removed > 0)
      ? 'REPLACE'
      : added.length > 0
        ? 'INSERT'
        : 'DELETE';
  const content = shown(added);
  return newEvent('agent', 'code', {
    id: call,
    args: {
      path,
      line,
      change,
      content,
      removed,
      truncated: content.length < added.length,
      ...(version && { version }),
    },
    message: sentence(path, region),
  });
}

/** Whole lines up to the limit; a single longer line is left out too. */
function shown(added: readonly string[]): string[] {
  const content: string[] = [];
  let characters = 0;
  for (const bytes of added.slice(0, maxLines)) {
    characters += bytes.length;
    if (characters > maxCharacters) break;
    content.push(toText(withoutEnd(bytes)));
  }
  return content;
}

function sentence(path: string, region: ChangedLines | null): string {
  if (!region) return `Changed ${path}`;
  const { line, added, removed } = region;
  const lines = (count: number) => pluralText(count, 'line');
  if (removed === 0) return `Added ${lines(added.length)} to ${path} at line ${line}`;
  if (added.length === 0) return `Removed ${lines(removed)} from ${path} at line ${line}`;
  return `Changed ${path} at line ${line}: ${lines(removed)} became ${added.length}`;
}
