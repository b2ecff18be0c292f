import { createInterface } from 'node:readline/promises';
import {
  calledOperation,
  exactPattern,
  hostSetIn,
  hostSetsWith,
  hostsOfSet,
  requestedCall,
  visibleText,
  type ApprovalAnswer,
  type ApprovalRequest,
} from '@belay/protocol';
import { headLines, type LineOutput } from './output.js';

/** Maximum lines of a command that are shown before its question. */
const maxLines = 40;

/** The user has closed the terminal’s input (Ctrl-D), so there is nobody to ask. */
export class InputClosed extends Error {}

/** The user at the terminal, who is asked one question at a time. */
export interface TerminalUser {
  /** Asks whether a call may run. Rejects when `signal` aborts, as the question was answered elsewhere. */
  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
  /** Lets the user refuse a call that runs by itself soon. Rejects when `signal` aborts, as it runs or was refused. */
  refuse(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
  answer(question: string, signal: AbortSignal): Promise<string>;
}

/** The user who can be asked; undefined when standard input is not a terminal. */
export function terminalUser(
  input: NodeJS.ReadStream,
  output: LineOutput,
): TerminalUser | undefined {
  if (!input.isTTY) return undefined;
  const read = async (prompt: string, signal: AbortSignal): Promise<string> => {
    const lines = createInterface({ input, output: process.stderr });
    // While a line is read, the terminal does not turn keys into signals.
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    const closed = new Promise<never>((_, reject) => {
      lines.once('close', () => reject(new InputClosed()));
    });
    try {
      return (await Promise.race([lines.question(prompt, { signal }), closed])).trim();
    } finally {
      lines.close();
    }
  };
  return {
    async approve(request, signal) {
      output.line(output.style('yellow', `⚠ Allow ${visibleText(request.operation)}?`));
      // Lines are never shortened, and omitted ones are counted: the user must see what is approved.
      for (const line of headLines(requestedCall(request), maxLines, Infinity))
        output.line(`  ${output.style('bold', line)}`);
      for (const name of setsFor(request)) {
        output.line(`  @${name}: ${hostsOfSet(name).join(', ')}`);
      }
      for (;;) {
        const said = await read(
          `[y]es · [a]lways in this session · ${setsOf(request)}[n]o, or a reason: `,
          signal,
        );
        const answer = readAnswer(said, request);
        if (answer) return answer;
      }
    },
    async refuse(request, signal) {
      for (;;) {
        const said = await read(
          '  [n]o, or a reason, to reject it · [y]es to run it now: ',
          signal,
        );
        const answer = readAnswer(said, request);
        if (answer) return answer;
      }
    },
    async answer(question, signal) {
      output.line(output.style('yellow', `? ${visibleText(question)}`));
      for (;;) {
        const said = await read('> ', signal);
        if (said) return said;
      }
    },
  };
}

/** The sets of hosts that a refused host is in, each of which can be allowed at once. */
const setsFor = ({ operation, subject }: ApprovalRequest) =>
  calledOperation(operation) ? [] : hostSetsWith(subject);

const setsOf = (request: ApprovalRequest): string =>
  setsFor(request)
    .map((name) => `@${name} · `)
    .join('');

/** Parses an answer; undefined for an empty line. Anything but yes and always is a rejection with its reason. */
export function readAnswer(said: string, request: ApprovalRequest): ApprovalAnswer | undefined {
  if (!said) return undefined;
  if (/^y(es)?$/i.test(said)) return { verdict: 'approved' };
  if (/^a(lways)?$/i.test(said)) {
    const { operation, subject } = request;
    return {
      verdict: 'approved',
      remember: {
        scope: 'session',
        operation: exactPattern(operation),
        pattern: exactPattern(subject),
        expires: null,
      },
    };
  }
  const set = hostSetIn(said);
  if (set && setsFor(request).includes(set)) {
    const remember = {
      scope: 'session',
      operation: 'egress',
      pattern: `@${set}`,
      expires: null,
    } as const;
    return { verdict: 'approved', remember };
  }
  const reason = /^no?$/i.test(said) ? 'The user said no.' : said.replace(/^no?[,: ]+/i, '');
  return { verdict: 'rejected', reason };
}
