import { newEvent, pluralText, type NewEvent } from '@belay/protocol';
import { splitLines, toText, withoutEnd } from './lines.js';

const maxLines = 400;
const maxCharacters = 32_000;

export interface ChangedLines {
  /** First line of the change, from 1. */
  line: number;
  added: string[];
  removed: number;
}

/** The smallest range of lines in which two texts differ; null if they are equal. */
export function changedLines(before: string, after: string): ChangedLines | null {
  if (before === after) return null;
  return differingRun(splitLines(before), splitLines(after));
}

export function differingRun(old: readonly string[], now: readonly string[]): ChangedLines | null {
  let head = 0;
  const shortest = Math.min(old.length, now.length);
  while (head < shortest && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < shortest - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const removed = old.length - head - tail;
  const added = now.slice(head, now.length - tail);
  return removed === 0 && added.length === 0 ? null : { line: head + 1, added, removed };
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
