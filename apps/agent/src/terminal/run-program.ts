import { AppError } from '@belay/protocol';
import type { Terminal } from './terminal.js';

/** How long a new shell may take to accept a command. */
const openingTimeoutMs = 20_000;
const foreverMs = Number.POSITIVE_INFINITY;

export interface ProgramOptions {
  onStarted(): void;
  onOutput(bytes: Buffer): void;
  /** Aborts the wait for its end; the program goes on. */
  signal: AbortSignal;
}

/**
 * Runs a program in the foreground of a terminal. Resolves with its exit code, which is null if it was killed or the
 * terminal closed. Throws `conflict` if the terminal is not free.
 */
export async function runProgram(
  terminal: Terminal,
  command: string,
  { onStarted, onOutput, signal }: ProgramOptions,
): Promise<number | null> {
  const { changes, output } = terminal;
  const free = () => terminal.free || terminal.broken || terminal.closed;
  await changes.until(free, openingTimeoutMs, signal);
  signal.throwIfAborted();
  if (!terminal.free)
    throw new AppError('conflict', `The terminal ${terminal.name} is not free: close it.`);
  const started = terminal.start(command, { background: false });
  onStarted();
  let at = started.from;
  const isOver = () => started.settled || terminal.closed;
  const hasNews = () => output.scrollback.end > at || isOver();
  try {
    for (;;) {
      for (const piece of output.scrollback.pieces(at)) {
        at += piece.length;
        onOutput(piece);
      }
      if (isOver() && output.scrollback.end <= at) return started.ended?.exitCode ?? null;
      await changes.until(hasNews, foreverMs, signal);
      signal.throwIfAborted();
    }
  } finally {
    started.watchers -= 1;
  }
}
