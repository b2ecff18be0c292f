import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { AppError } from '@belay/protocol';

/** A secret, asked for once and hidden at a terminal; otherwise the first line of standard input. */
export async function readSecret(prompt: string, missing: string): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).split(/\r?\n/)[0] ?? '';
  return askHidden(prompt, missing);
}

export function askHidden(prompt: string, missing = 'No password was given.'): Promise<string> {
  process.stderr.write(prompt);
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: hidden, terminal: true });
  return new Promise((resolve, reject) => {
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
    lines.once('SIGINT', () => lines.close());
    lines.once('close', () => {
      process.stderr.write('\n');
      reject(new AppError('cancelled', missing));
    });
  });
}
