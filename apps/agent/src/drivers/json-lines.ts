import type { Readable } from 'node:stream';

/** The longest message, in bytes; longer lines are skipped. */
const maxLineBytes = 16 * 2 ** 20;

/** The objects of a stream with one in JSON on each line; other lines go to `onNoise`. Ends with the stream. */
export async function* jsonLines(
  input: Readable,
  onNoise: (line: string) => void,
): AsyncGenerator<object, void> {
  for await (const line of lines(input)) {
    const value = line.startsWith('{') ? parsed(line) : undefined;
    if (value) yield value;
    else if (line) onNoise(line);
  }
}

async function* lines(input: Readable): AsyncGenerator<string, void> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const line = [...parts, chunk.subarray(from, end)];
      if (size + end - from <= maxLineBytes) yield Buffer.concat(line).toString('utf8').trim();
      parts = [];
      size = 0;
      from = end + 1;
    }
    size += chunk.length - from;
    if (size <= maxLineBytes) parts.push(chunk.subarray(from));
    else parts = [];
  }
}

function parsed(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
