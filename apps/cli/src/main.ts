import { AppError, errorCodes, visibleText } from '@belay/protocol';
import { CommanderError } from 'commander';
import { endWithNpm } from './end-with-npm.js';
import { exitCodes } from './outcome.js';
import { outputTo } from './output.js';
import { createProgram } from './program.js';

async function main(): Promise<void> {
  endWithNpm();
  const errors = outputTo(process.stderr);
  // Commander writes to standard output itself; a closed pipe must not become a stack trace.
  outputTo(process.stdout);
  try {
    await createProgram((code) => (process.exitCode = code)).parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
    } else if (error instanceof AppError) {
      const message = error.code === 'unauthorized' ? refusedToken : error.message;
      errors.line(`${errors.style('red', 'belay:')} ${visibleText(message)}`);
      process.exitCode = errorCodes[error.code].exit;
    } else throw error;
  }
}

/** Replaces the server’s sentence, which is meant for browsers. */
const refusedToken =
  'The server rejected the token. Set BELAY_TOKEN to the one that it printed when it started.';

void main();
