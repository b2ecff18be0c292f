import { AppError, errorCodes, type ErrorCode } from '@belay/protocol';
import { storageError } from '../storage/database.js';

/** An error as a problem document (RFC 9457). `code` is the platform's own, the same on every door. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
  details?: Record<string, unknown>;
}

export const problemType = 'application/problem+json';

export function problemOf(error: AppError): Problem {
  return {
    type: 'about:blank',
    title: error.code.replaceAll('_', ' '),
    status: errorCodes[error.code].http,
    detail: error.message,
    code: error.code,
    ...(error.details && { details: error.details }),
  };
}

/** An error in the platform's words, if it is one of those that are expected. */
export function knownError(thrown: unknown): AppError | undefined {
  const error = storageError(thrown);
  return error instanceof AppError ? error : undefined;
}

/** What is nobody's fault but ours says nothing of itself. */
export const unexpected = (): AppError =>
  new AppError('internal', 'Something went wrong in the server; its log says what.');
