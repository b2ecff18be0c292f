import { callOf, calledOperation, summaryOf } from './calls.js';
import type { Event } from './events.js';
import { mcpToolNamed } from './mcp-operation.js';

type Called = Pick<Event, 'action' | 'args'>;

/**
 * A call in words for people: what it does, and to what. The subject is empty for a call without input. An operation
 * that makes its commit itself describes there what it did.
 */
export function labelOfCall(
  { action, args }: Called,
  commit?: Pick<Event, 'message'>,
): { verb: string; subject: string } {
  const subject = firstLine(summaryOf(action, args));
  const tool = mcpToolNamed(action);
  if (tool) return { verb: `${tool.name} (${tool.server})`, subject };
  const operation = calledOperation(action);
  if (!operation) return { verb: action, subject };
  const { display, title, commitsItself } = operation;
  if (commitsItself && commit) return { verb: commit.message, subject: '' };
  // As in “Read README.md”: for files and commands, the first word of the title is clear enough.
  const isShort =
    subject !== '' && (display === 'command' || display === 'file' || display === 'edit');
  return { verb: isShort ? (title.split(' ')[0] ?? title) : title, subject };
}

/** A call as one text for people, such as `Run: npm test`; a thought, a question or an ending speaks for itself. */
export function sentenceOfCall(event: Event): string {
  const spoken =
    callOf(event, 'think')?.args.thought ??
    callOf(event, 'ask')?.args.question ??
    callOf(event, 'finish')?.args.summary;
  if (spoken) return spoken;
  const { verb, subject } = labelOfCall(event);
  return subject ? `${verb}: ${subject}` : `${verb}.`;
}

/** The first line of a summary, shortened. */
const firstLine = (summary: string): string =>
  summary === '{}' ? '' : (summary.split('\n')[0] ?? '').slice(0, 300);
