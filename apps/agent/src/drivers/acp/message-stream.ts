import { once } from 'node:events';
import { Readable, type Writable } from 'node:stream';
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import { jsonLines } from '../json-lines.js';

/**
 * Messages as lines of JSON. The SDK’s own stream answers each line that is none with an error, but programs print
 * other lines, too: those go to `onNoise`.
 */
export function messageStream(
  { input, output }: { input: Writable; output: Readable },
  onNoise: (line: string) => void,
): Stream {
  const messages = Readable.from(jsonLines(output, onNoise));
  return {
    readable: Readable.toWeb(messages) as ReadableStream<AnyMessage>,
    writable: new WritableStream<AnyMessage>({
      async write(message) {
        if (input.destroyed) throw new Error('The program has ended.');
        if (!input.write(`${JSON.stringify(message)}\n`))
          await Promise.race([once(input, 'drain'), once(input, 'close')]);
      },
    }),
  };
}
