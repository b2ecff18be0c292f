import type { NewEvent } from '@belay/protocol';

/** The most frequent event of an agent: the result of a command. */
export function sample(n: number): NewEvent {
  const output = { text: `line ${n} of the output\n`.repeat(8), exitCode: 0, status: 'exited' };
  const args = { id: `call-${n}`, operation: 'terminal.run', ok: true, output, milliseconds: 12 };
  return { source: 'agent', action: 'result', args, message: 'Exit code 0.' };
}
