import { AppError, errorCodes } from '@belay/protocol';
import { CommanderError } from 'commander';
import { exitCodes } from './outcome.js';
import { outputTo } from './output.js';
import { createProgram } from './program.js';

async function main(): Promise<void> {
  const errors = outputTo(process.stderr);
  // Commander writes to standard output itself; a reader that leaves early must not become a stack trace.
  outputTo(process.stdout);
  const program = createProgram((code) => (process.exitCode = code));
  for (const command of [program, ...program.commands]) command.exitOverride();
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
    } else if (error instanceof AppError) {
      errors.line(`${errors.style('red', 'belay:')} ${error.message}`);
      process.exitCode = errorCodes[error.code].exit;
    } else throw error;
  }
}

void main();
