import { excerpt, newEvent, oneLine, type NewEvent } from '@belay/protocol';
import type { ShellCommand } from './shell-command.js';
import type { Terminal } from './terminal.js';

const maxLines = 10;
const maxBytes = 2_000;
const maxCommand = 500;

/** The event for an ended background command, with its terminal’s last output. */
export function exitEvent(terminal: Terminal, command: ShellCommand): NewEvent | undefined {
  const { ended, killed, text, seconds } = command;
  if (!ended) return undefined;
  const { status, exitCode, to } = ended;
  const name = terminal.name;
  const { from } = command;
  const [span, ...more] = terminal.output.foreground.without({ from, to });
  const mixed = more.length > 0 || span === undefined || span.to < to || span.from > from;
  const isMixed = mixed && to > from;
  const how =
    exitCode === null
      ? status === 'timeout'
        ? 'timed out'
        : 'was killed'
      : `exited with ${exitCode}${killed === undefined ? '' : ` (${killed})`}`;
  return newEvent('agent', 'exit', {
    args: {
      terminal: name,
      command: excerpt(text, maxCommand),
      status,
      exitCode,
      seconds,
      text: lastLines(terminal, from, to),
      from,
      ...(killed !== undefined && { killed }),
      ...(isMixed && { mixed }),
    },
    message: oneLine(`In the background of ${name} ${how}: ${text}`),
  });
}

/** Its last lines, without output of the terminal’s other commands. */
function lastLines({ output, rows }: Terminal, begin: number, to: number): string {
  const from = Math.max(begin, to - 4 * maxBytes);
  const text = output.foreground
    .without({ from, to })
    .map((span) => output.text({ ...span, limit: 4 * maxBytes, rows }).text)
    .join('');
  const lines = text.trimEnd().split('\n');
  // The first line may be the end of a longer one.
  const whole = from > begin ? lines.slice(1) : lines;
  return whole.slice(-maxLines).join('\n').slice(-maxBytes).trim();
}
