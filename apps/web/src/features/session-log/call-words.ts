import { calledOperation, mcpToolNamed, summaryOf, type Event } from '@belay/protocol';

/**
 * A call in words: its verb and its subject, as in “Read README.md”. An operation that makes its commit itself describes
 * there what it did.
 */
export function callWords(
  { action, args }: Event,
  commit?: Pick<Event, 'message'>,
): { verb: string; subject: string } {
  const subject = firstLine(summaryOf(action, args));
  const tool = mcpToolNamed(action);
  if (tool) return { verb: `${tool.name} (${tool.server})`, subject };
  const operation = calledOperation(action);
  if (!operation) return { verb: action, subject };
  const { display, title, commitsItself } = operation;
  if (commitsItself && commit) return { verb: commit.message, subject: '' };
  // For files and commands, the first word of the title is clear enough.
  const isShort =
    subject !== '' && (display === 'command' || display === 'file' || display === 'edit');
  return { verb: isShort ? (title.split(' ')[0] ?? title) : title, subject };
}

/** The first line of a summary, shortened; empty for a call without input. */
const firstLine = (summary: string): string =>
  summary === '{}' ? '' : (summary.split('\n')[0] ?? '').slice(0, 300);
