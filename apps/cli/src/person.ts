import { createInterface } from 'node:readline/promises';
import type { ApprovalAnswer, ApprovalRequest } from '@belay/protocol';
import { firstLines, visible, type Output } from './output.js';

/** Lines of a command that are shown before its question. */
const mostLines = 40;

/** The person has closed the terminal's input (Ctrl-D): nobody can be asked any more. */
export class PersonLeft extends Error {}

/** The person at the terminal, asked one thing at a time. */
export interface Person {
  /** Asks whether a call may run. Rejects when `signal` aborts: somebody else has answered. */
  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
  answer(question: string, signal: AbortSignal): Promise<string>;
}

/** A person who can be asked; undefined when standard input is no terminal. */
export function personAt(input: NodeJS.ReadStream, output: Output): Person | undefined {
  if (!input.isTTY) return undefined;
  const read = async (prompt: string, signal: AbortSignal): Promise<string> => {
    const lines = createInterface({ input, output: process.stderr });
    // While it is read the terminal makes no signals of keys.
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    const left = new Promise<never>((_, reject) => {
      lines.once('close', () => reject(new PersonLeft()));
    });
    try {
      return (await Promise.race([lines.question(prompt, { signal }), left])).trim();
    } finally {
      lines.close();
    }
  };
  return {
    async approve(request, signal) {
      output.line(output.style('yellow', `⚠ Allow ${visible(request.operation)}?`));
      // Lines are never shortened, and it is said when some are left out: nobody allows what they cannot see.
      for (const line of firstLines(request.subject, mostLines, Infinity))
        output.line(`  ${output.style('bold', line)}`);
      for (;;) {
        const said = await read('[y]es · [a]lways in this session · [n]o, or why not: ', signal);
        const answer = readAnswer(said, request);
        if (answer) return answer;
      }
    },
    async answer(question, signal) {
      output.line(output.style('yellow', `? ${visible(question)}`));
      for (;;) {
        const said = await read('> ', signal);
        if (said) return said;
      }
    },
  };
}

/** What a person meant; undefined for an empty line. Anything but yes and always is a no with a reason. */
export function readAnswer(said: string, request: ApprovalRequest): ApprovalAnswer | undefined {
  if (!said) return undefined;
  if (/^y(es)?$/i.test(said)) return { verdict: 'approved' };
  if (/^a(lways)?$/i.test(said)) {
    const { operation, subject } = request;
    return {
      verdict: 'approved',
      remember: { scope: 'session', operation, pattern: subject, expires: null },
    };
  }
  const reason = /^no?$/i.test(said) ? 'The person said no.' : said.replace(/^no?[,: ]+/i, '');
  return { verdict: 'rejected', reason };
}
