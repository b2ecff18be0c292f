import { AppError, isFields, jsonFault, maxTranscriptLength } from '@belay/protocol';

export type Fields = Record<string, unknown>;

/** The longest line that is not skipped, in characters. */
const maxLine = 8 * 2 ** 20;
/** Small lines take much more memory than they have characters. */
const mostLines = 200_000;
/** The characters after which other work goes on. */
const pauseEvery = 2 ** 18;
const lineBounds = { characters: maxLine, depth: 64, values: 100_000 };

/**
 * The objects in a file with one in JSON on each line; null for a line that is none. Other work of the process goes on
 * meanwhile. Throws `too_large`.
 */
export async function* transcriptLines(text: string): AsyncGenerator<Fields | null, void> {
  if (text.length > maxTranscriptLength)
    throw new AppError('too_large', 'A transcript may have at most 64 MiB.');
  let count = 0;
  let pausedAt = 0;
  for (let from = 0; from < text.length;) {
    const end = text.indexOf('\n', from);
    const to = end < 0 ? text.length : end;
    const line = to - from > maxLine ? null : text.slice(from, to).trim();
    from = to + 1;
    if (line === '') continue;
    if (++count > mostLines)
      throw new AppError('too_large', 'A transcript may have at most 200,000 lines.');
    yield line === null ? null : (objectIn(line) ?? null);
    if (from - pausedAt < pauseEvery) continue;
    pausedAt = from;
    await new Promise((resolve) => setImmediate(resolve));
  }
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
