import { AppError, isFields, jsonFault, maxTranscriptLength } from '@belay/protocol';

export type Fields = Record<string, unknown>;

/** The longest line that is not skipped, in characters. */
const maxLine = 8 * 2 ** 20;
/** Small lines take much more memory than they have characters. */
const mostLines = 200_000;
const lineBounds = { characters: maxLine, depth: 64, values: 500_000 };

/** The objects in a file with one in JSON on each line, and the number of other lines. Throws `too_large`. */
export function transcriptLines(text: string): { lines: Fields[]; skipped: number } {
  if (text.length > maxTranscriptLength)
    throw new AppError('too_large', 'A transcript may have at most 64 MiB.');
  const lines: Fields[] = [];
  let skipped = 0;
  for (let from = 0; from < text.length;) {
    if (lines.length + skipped >= mostLines)
      throw new AppError('too_large', 'A transcript may have at most 200,000 lines.');
    const end = text.indexOf('\n', from);
    const to = end < 0 ? text.length : end;
    const line = to - from > maxLine ? undefined : objectIn(text.slice(from, to));
    if (line) lines.push(line);
    else if (to - from > maxLine || text.slice(from, to).trim() !== '') skipped += 1;
    from = to + 1;
  }
  return { lines, skipped };
}

/** The object that a text is in JSON; undefined if it is anything else, or too deep or large to be worked with. */
export function objectIn(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) && jsonFault(value, lineBounds) === undefined ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A time in ISO 8601; null for anything else and for the future. */
export function pastTime(given: unknown): string | null {
  const time = typeof given === 'string' ? Date.parse(given) : Number.NaN;
  return time >= 0 && time <= Date.now() ? new Date(time).toISOString() : null;
}
