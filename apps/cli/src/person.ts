import { createInterface } from 'node:readline/promises';
import type { ApprovalAnswer, ApprovalRequest } from '@belay/protocol';
import { oneLine, type Output } from './output.js';

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
    try {
      return (await lines.question(prompt, { signal })).trim();
    } finally {
      lines.close();
    }
  };
  return {
    async approve(request, signal) {
      output.line(
        output.style('yellow', `Allow ${request.operation}? ${oneLine(request.subject)}`),
      );
      for (;;) {
        const said = await read('[y]es · [a]lways in this session · [n]o, or why not: ', signal);
        const answer = readAnswer(said, request);
        if (answer) return answer;
      }
    },
    async answer(question, signal) {
      output.line(output.style('yellow', question));
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
