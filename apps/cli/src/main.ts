import { AppError, errorCodes } from '@belay/protocol';
import { CommanderError } from 'commander';
import { exitCodes } from './outcome.js';
import { outputTo, visible } from './output.js';
import { createProgram } from './program.js';

async function main(): Promise<void> {
  const errors = outputTo(process.stderr);
  // Commander writes to standard output itself; a reader that leaves early must not become a stack trace.
  outputTo(process.stdout);
  try {
    await createProgram((code) => (process.exitCode = code)).parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
    } else if (error instanceof AppError) {
      const message = error.code === 'unauthorized' ? refusedToken : error.message;
      errors.line(`${errors.style('red', 'belay:')} ${visible(message)}`);
      process.exitCode = errorCodes[error.code].exit;
    } else throw error;
  }
}

/** The server’s own sentence is for people with a browser. */
const refusedToken =
  'The server refused the token: set BELAY_TOKEN to the one that it printed at its start.';

void main();
