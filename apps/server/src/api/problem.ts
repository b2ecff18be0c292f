import { AppError } from '@belay/protocol';
import { storageError } from '../storage/database.js';

/** The `AppError` of an expected failure, or undefined. */
export function knownError(thrown: unknown): AppError | undefined {
  const error = storageError(thrown);
  return error instanceof AppError ? error : undefined;
}

/** An unexpected error is a bug of the server, so its details are logged and not sent. */
export const unexpected = (): AppError =>
  new AppError('internal', 'The server failed unexpectedly. See its log for the cause.');
