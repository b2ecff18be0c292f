import { createInterface } from 'node:readline/promises';
import {
  alwaysAnswer,
  calledOperation,
  hostSetIn,
  hostSetsWith,
  hostsOfSet,
  rememberedAnswer,
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
  /**
   * Lets the user refuse a call that will run by itself. Rejects when `signal` aborts, because it runs or was refused.
   */
  refuse(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
  answer(question: string, signal: AbortSignal): Promise<string>;
}

/** The user, if standard input is a terminal; otherwise undefined. */
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
  const ask = async <T>(
    prompt: string,
    signal: AbortSignal,
    parse: (reply: string) => T | undefined,
  ): Promise<T> => {
    const answer = parse(await read(prompt, signal));
    return answer === undefined ? ask(prompt, signal, parse) : answer;
  };
  return {
    async approve(request, signal) {
      output.line(output.style('yellow', `⚠ Allow ${visibleText(request.operation)}?`));
      // Lines are never shortened, and omitted ones are counted: the user must see what is approved.
      for (const line of headLines(requestedCall(request), maxLines, Infinity))
        output.line(`  ${output.style('bold', line)}`);
      const sets = setsFor(request);
      for (const name of sets) output.line(`  @${name}: ${hostsOfSet(name).join(', ')}`);
      const offered = sets.map((name) => `@${name} · `).join('');
      const prompt = `[y]es · [a]lways in this session · ${offered}[n]o, or a reason: `;
      return ask(prompt, signal, (reply) => readAnswer(reply, request));
    },
    refuse: (request, signal) =>
      ask('  [n]o, or a reason, to reject it · [y]es to run it now: ', signal, (reply) =>
        readAnswer(reply, request),
      ),
    async answer(question, signal) {
      output.line(output.style('yellow', `? ${visibleText(question)}`));
      return ask('> ', signal, (reply) => reply || undefined);
    },
  };
}

/** The host sets that contain a refused host, each of which can be allowed at once. */
const setsFor = ({ operation, subject }: ApprovalRequest) =>
  calledOperation(operation) ? [] : hostSetsWith(subject);

/** Parses an answer; undefined for an empty line. Anything but yes and always is a rejection with its reason. */
export function readAnswer(reply: string, request: ApprovalRequest): ApprovalAnswer | undefined {
  if (!reply) return undefined;
  if (/^y(es)?$/i.test(reply)) return { verdict: 'approved' };
  if (/^a(lways)?$/i.test(reply)) return alwaysAnswer(request);
  const set = hostSetIn(reply);
  if (set && setsFor(request).includes(set)) return rememberedAnswer('egress', `@${set}`);
  const reason = /^no?$/i.test(reply) ? 'The user said no.' : reply.replace(/^no?[,: ]+/i, '');
  return { verdict: 'rejected', reason };
}
