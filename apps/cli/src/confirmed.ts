import { createInterface } from 'node:readline/promises';
import { AppError } from '@belay/protocol';

/** Whether the user confirms. Throws `invalid_input` with `withoutTerminal` if nobody can be asked. */
export async function confirmed(question: string, withoutTerminal: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new AppError('invalid_input', withoutTerminal);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(`${question} [y/N] `).finally(() => lines.close());
  return /^y(es)?$/i.test(answer.trim());
}
