import { z } from 'zod';
import { AppError, errorCodes, errorShape } from '../errors.js';

export const problemType = 'application/problem+json';

/** An error as a problem document (RFC 9457). `code` is Belay’s own, the same in every API. */
export const problem = z.object({
  type: z.literal('about:blank'),
  title: z.string(),
  status: z.int(),
  detail: errorShape.shape.message,
  code: errorShape.shape.code,
  details: errorShape.shape.details,
});
export type Problem = z.infer<typeof problem>;

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

const told = problem.pick({ code: true, detail: true, details: true });

/** The error that a problem document was made from; undefined for any other text. */
export function errorOfProblem(text: string): AppError | undefined {
  try {
    const { data } = told.safeParse(JSON.parse(text));
    return data && new AppError(data.code, data.detail, data.details);
  } catch {
    return undefined; // No JSON.
  }
}
