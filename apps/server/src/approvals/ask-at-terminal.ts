import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import {
  approvalDelayMs,
  errorFrom,
  isEnded,
  isEvent,
  requestedCall,
  visibleText,
  type ApprovalAnswer,
  type ApprovalRequest,
  type Event,
} from '@belay/protocol';
import { ownerCaller } from '../access/caller.js';
import type { EventLog } from '../logs/event-log.js';
import type { ApprovalService } from './approval.service.js';

interface Question {
  session: string;
  request: ApprovalRequest;
  /** A held call runs by itself, unless it is rejected before. */
  isHeld: boolean;
}

interface TerminalQuestionsOptions {
  log: Pick<EventLog, 'subscribeAll'>;
  approvals: Pick<ApprovalService, 'answer'>;
  input: Readable;
  output: Writable;
}

/** Further questions can be answered only elsewhere. */
const mostQuestions = 100;
const mostLines = 40;
const mostCharacters = 8_000;
/** A line that was typed before the question could be read is not an answer to it. */
const readingTimeMs = 300;

/**
 * Asks every open question of every session at the server’s own terminal, one at a time; calls that are held back come
 * first, because they can be rejected only for a moment. Whoever uses that terminal counts as the owner. Questions
 * answered elsewhere are withdrawn. Sessions that start on a joined machine are named, as they are there. Returns a
 * function that stops it.
 */
export function askAtTerminal({ log, approvals, input, output }: TerminalQuestionsOptions) {
  const waiting: Question[] = [];
  let shown: { question: Question; since: number; isAnswered: boolean } | undefined;
  const print = (text: string) => void output.write(text);

  const show = (): void => {
    const question = waiting.find(({ isHeld }) => isHeld) ?? waiting[0];
    if (!question || shown?.question === question) return;
    shown = { question, since: Date.now(), isAnswered: false };
    print(textOf(question));
  };
  const drop = (isOver: (question: Question) => boolean, hasRun = false): void => {
    const left = waiting.filter((question) => !isOver(question));
    waiting.splice(0, waiting.length, ...left);
    if (shown && !waiting.includes(shown.question)) {
      if (!shown.isAnswered)
        print(shown.question.isHeld && hasRun ? '\n  It ran.\n' : '\n  Already answered.\n');
      shown = undefined;
    }
    show();
  };
  const see = (session: string, event: Event): void => {
    if (isEvent(event, 'approval')) {
      const isHeld = event.args.until !== null;
      if (waiting.length < mostQuestions) waiting.push({ session, request: event.args, isHeld });
    } else if (isEvent(event, 'start')) {
      const { machine } = event.args;
      if (machine)
        print(`\nSession ${session} starts on the machine ${visibleText(machine.name)}.\n`);
    } else if (['approve', 'reject', 'result'].includes(event.action)) {
      drop(
        ({ session: other, request }) => other === session && request.id === event.id,
        event.action === 'approve',
      );
    } else if (isEvent(event, 'state') && isEnded(event.args.state)) {
      drop(({ session: other }) => other === session);
    }
  };
  const answer = async (line: string): Promise<void> => {
    if (!shown) return;
    const { question, since } = shown;
    const given = answerIn(line);
    if (!given || Date.now() - since < readingTimeMs) return print(prompt);
    shown.isAnswered = true;
    const { session, request } = question;
    await approvals.answer(session, { id: request.id, caller: ownerCaller }, given);
  };

  const unsubscribe = log.subscribeAll((session, events) => {
    for (const event of events) see(session, event);
    show();
  });
  // Without terminal mode, Ctrl-C keeps its usual effect.
  const lines = createInterface({ input, terminal: false });
  lines.on('line', (line) => {
    answer(line).catch((error: unknown) => print(`  ${errorFrom(error).message}\n`));
  });
  return () => {
    unsubscribe();
    lines.close();
  };
}

const prompt = '  [y]es · [n]o, or a reason: ';
const heldPrompt = `  Runs in ${approvalDelayMs / 1_000} s · [n]o, or a reason, rejects it · [y]es runs it now: `;

/** Shows control characters in text from the sandbox, and cuts it to a readable length. */
function textOf({ session, request, isHeld }: Question): string {
  const whole = visibleText(requestedCall(request));
  const lines = whole.slice(0, mostCharacters).split('\n').slice(0, mostLines);
  const left = whole.length - lines.join('\n').length;
  if (left > 0) lines.push(`… ${left} more characters: the dashboard shows them.`);
  const what = visibleText(request.operation);
  const title = isHeld ? what : `allow ${what}?`;
  const call = lines.map((line) => `  ${line}\n`).join('');
  return `\n⚠ Session ${session}: ${title}\n${call}${isHeld ? heldPrompt : prompt}`;
}

/** Undefined for an empty line. Anything but yes is a rejection with that reason. */
function answerIn(line: string): ApprovalAnswer | undefined {
  const said = line.trim().slice(0, 2_000);
  if (said === '') return undefined;
  if (/^y(es)?$/i.test(said)) return { verdict: 'approved' };
  const isNo = /^no?$/i.test(said);
  return { verdict: 'rejected', reason: isNo ? 'The user said no.' : said };
}
