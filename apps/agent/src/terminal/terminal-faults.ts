import { AppError, excerpt } from '@belay/protocol';
import type { Terminal } from './terminal.js';

/** Throws `conflict` while a user owns the input. */
export function assertAgentTypes(terminal: Terminal): void {
  if (terminal.holder === 'agent') return;
  throw new AppError(
    'conflict',
    `The user has taken over the terminal ${terminal.name}; wait until it is handed back, or use another terminal.`,
  );
}

/** The error for a terminal that accepts no command now. */
export function busy(terminal: Terminal): AppError {
  if (terminal.closed) return new AppError('conflict', `The terminal ${terminal.name} was closed.`);
  if (terminal.atProcessLimit) {
    return new AppError(
      'unavailable',
      `No shell can be started in the terminal ${terminal.name}: the sandbox has reached its process limit. End what runs in other terminals with terminal.close (terminal.list shows them), then close this one and try again.`,
    );
  }
  if (terminal.broken) {
    return new AppError(
      'unavailable',
      `No shell can be started in the terminal ${terminal.name}; close it and try again.`,
    );
  }
  const command = terminal.current;
  const what = command
    ? `\`${excerpt(command.text, 200)}\` is still running in the terminal ${terminal.name} after ${Math.round(command.seconds)} s`
    : `The terminal ${terminal.name} is not ready: a program that the user started may still run in it`;
  return new AppError(
    'conflict',
    `${what}; wait for it with terminal.read, end it with terminal.interrupt, or use another terminal.`,
  );
}
