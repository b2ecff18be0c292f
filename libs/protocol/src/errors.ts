import { z } from 'zod';

/**
 * Every failure that a user, a model or a program may get, with its meaning in each API.
 * `http` is the status of a problem document (RFC 9457), `exit` the exit code of the CLI.
 */
export const errorCodes = {
  invalid_input: { http: 400, exit: 2 },
  unauthorized: { http: 401, exit: 2 },
  forbidden: { http: 403, exit: 2 },
  rejected: { http: 403, exit: 1 },
  not_found: { http: 404, exit: 2 },
  method_not_allowed: { http: 405, exit: 2 },
  timeout: { http: 408, exit: 1 },
  conflict: { http: 409, exit: 1 },
  too_large: { http: 413, exit: 2 },
  tool_failed: { http: 422, exit: 1 },
  limit_reached: { http: 429, exit: 3 },
  cancelled: { http: 499, exit: 130 },
  model_failed: { http: 502, exit: 1 },
  context_overflow: { http: 502, exit: 1 },
  unavailable: { http: 503, exit: 5 },
  disk_full: { http: 507, exit: 1 },
  internal: { http: 500, exit: 1 },
} as const satisfies Record<string, { http: number; exit: number }>;

export type ErrorCode = keyof typeof errorCodes;

/** An error as it is sent: never with a stack or a key. */
export const errorShape = z.object({
  code: z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]),
  message: z.string().describe('What happened and what to do.'),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type ErrorShape = z.infer<typeof errorShape>;

/** The one error class of the platform. Anything else that is thrown is a bug and becomes `internal`. */
export class AppError extends Error {
  override readonly name = 'AppError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: Record<string, unknown>,
  ) {
    super(message);
  }

  toJSON(): ErrorShape {
    return {
      code: this.code,
      message: this.message,
      ...(this.details && { details: this.details }),
    };
  }
}

/** The first fault in an input, with its place, such as `budgets.steps: Too small`. */
export function faultOf({ issues: [issue] }: z.ZodError): string {
  return [issue?.path.join('.'), issue?.message].filter(Boolean).join(': ');
}

/** Parses a received error; an unknown shape becomes `internal`. */
export function errorFrom(value: unknown): AppError {
  if (value instanceof AppError) return value;
  const shape = errorShape.safeParse(value);
  if (shape.success) return new AppError(shape.data.code, shape.data.message, shape.data.details);
  const message = value instanceof Error ? value.message : String(value);
  return new AppError('internal', message);
}

/** A handler for an expected error that needs no handling; `_reason` documents why. */
export const ignoreError = (_reason: string) => (): undefined => undefined;
