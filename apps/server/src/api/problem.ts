import type { Logger } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { storageError } from '../storage/database.js';

/** The `AppError` of an expected failure, or undefined. */
export function knownError(thrown: unknown): AppError | undefined {
  const error = storageError(thrown);
  return error instanceof AppError ? error : undefined;
}

/** The error that a client gets for any failure. Details of an unexpected one are only logged. */
export function sentError(thrown: unknown, logger: Logger): AppError {
  const known = knownError(thrown);
  if (known) return known;
  logger.error(thrown);
  return unexpected();
}

/** An unexpected error is a bug of the server. */
export const unexpected = (): AppError =>
  new AppError('internal', 'The server failed unexpectedly. See its log for the cause.');
