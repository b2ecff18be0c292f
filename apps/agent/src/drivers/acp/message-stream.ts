import { once } from 'node:events';
import { Readable, type Writable } from 'node:stream';
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';

/** The longest message of a program, in bytes; longer lines are skipped. */
const maxMessageBytes = 16 * 2 ** 20;

/**
 * Messages as lines of JSON. The SDK’s own stream answers each line that is none with an error, but programs print
 * other lines, too: those go to `onNoise`.
 */
export function messageStream(
  { input, output }: { input: Writable; output: Readable },
  onNoise: (line: string) => void,
): Stream {
  return {
    readable: Readable.toWeb(
      Readable.from(messages(output, onNoise)),
    ) as ReadableStream<AnyMessage>,
    writable: new WritableStream<AnyMessage>({
      async write(message) {
        if (input.destroyed) throw new Error('The program has ended.');
        if (!input.write(`${JSON.stringify(message)}\n`))
          await Promise.race([once(input, 'drain'), once(input, 'close')]);
      },
    }),
  };
}

async function* messages(
  output: Readable,
  onNoise: (line: string) => void,
): AsyncGenerator<object, void> {
  for await (const line of lines(output)) {
    const message = line.startsWith('{') ? parsed(line) : undefined;
    if (message) yield message;
    else if (line) onNoise(line);
  }
}

async function* lines(output: Readable): AsyncGenerator<string, void> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of output as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      if (size <= maxMessageBytes)
        yield Buffer.concat([...parts, chunk.subarray(from, end)])
          .toString('utf8')
          .trim();
      parts = [];
      size = 0;
      from = end + 1;
    }
    size += chunk.length - from;
    if (size <= maxMessageBytes) parts.push(chunk.subarray(from));
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
