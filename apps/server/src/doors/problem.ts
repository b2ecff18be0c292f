import { AppError, errorCodes, type ErrorCode } from '@belay/protocol';

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
