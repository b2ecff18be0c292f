import {
  Catch,
  HttpException,
  Logger,
  NotFoundException,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import { AppError, faultOf, type ErrorCode } from '@belay/protocol';
import type { Request, Response } from 'express';
import { ZodValidationException } from 'nestjs-zod';
import { ZodError } from 'zod';
import { knownError, problemOf, problemType, unexpected } from './problem.js';

/** Every failure of a route becomes a problem document. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('Http');

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const error = this.known(thrown, http.getRequest<Request>());
    const response = http.getResponse<Response>();
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const problem = problemOf(error);
    response.status(problem.status).type(problemType).send(JSON.stringify(problem));
  }

  private known(thrown: unknown, request: Request): AppError {
    const known = knownError(thrown) ?? refused(thrown, request);
    if (known) return known;
    this.logger.error({ error: thrown, method: request.method, path: request.path });
    return unexpected();
  }
}

/** What Nest, Express and the body parser refuse, in the platform's words. */
function refused(error: unknown, request: Request): AppError | undefined {
  const { method, path, body } = request;
  if (error instanceof ZodValidationException) {
    if (method !== 'GET' && body === undefined) return new AppError('invalid_input', sendJson);
    const fault = error.getZodError();
    const what = fault instanceof ZodError ? faultOf(fault) : 'The request cannot be read';
    return new AppError('invalid_input', `${what}.`);
  }
  if (error instanceof NotFoundException) {
    return new AppError('not_found', `There is nothing at ${method} ${path}.`);
  }
  if (request.readableAborted) return new AppError('cancelled', 'The request was broken off.');
  const status = error instanceof HttpException ? error.getStatus() : statusOf(error);
  if (status === undefined || status >= 500) return undefined;
  const why = error instanceof Error ? error.message : String(error);
  return new AppError(codes[status] ?? 'invalid_input', `The request cannot be read: ${why}.`);
}

/** As the body parser says it. */
function statusOf(error: unknown): number | undefined {
  const status = (error as { status?: unknown } | null)?.status;
  return typeof status === 'number' ? status : undefined;
}

const sendJson = 'Send the input as JSON, with the content-type application/json.';

const codes: Record<number, ErrorCode> = { 404: 'not_found', 413: 'too_large' };
