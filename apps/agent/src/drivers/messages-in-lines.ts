import { jsonTextFault } from '@belay/rpc';

/** The longest message, in bytes. */
const maxLineBytes = 16 * 2 ** 20;

/** What a stream of messages contains besides them. Both are skipped. */
export interface SkippedLines {
  /** Called with a line that is not a message: programs print other text, too. */
  onNoise(line: string): void;
  /** Called with what is wrong with a message that is too large, as the end of a sentence. */
  onFault(fault: string): void;
}

/** The objects of a stream with one in JSON on each line. Ends with the stream. */
export async function* messagesInLines(
  input: AsyncIterable<Buffer>,
  { onNoise, onFault }: SkippedLines,
): AsyncGenerator<object, void> {
  for await (const line of lines(input)) {
    if (line === null) {
      onFault(`has more than ${maxLineBytes / 2 ** 20} MiB`);
      continue;
    }
    const text = line.toString('utf8').trim();
    if (!text) continue;
    if (!text.startsWith('{')) {
      onNoise(text);
      continue;
    }
    // Parsed values need far more memory than their text.
    const fault = jsonTextFault(line);
    const value = fault ? undefined : parsed(text);
    if (fault) onFault(fault);
    else if (value) yield value;
    else onNoise(text);
  }
}

/** Null stands for a line that is too long; only its size is kept. */
async function* lines(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer | null, void> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const line = [...parts, chunk.subarray(from, end)];
      yield size + end - from <= maxLineBytes ? Buffer.concat(line) : null;
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
