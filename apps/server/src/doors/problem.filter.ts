import {
  Catch,
  HttpException,
  Logger,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import { AppError, type ErrorCode } from '@belay/protocol';
import type { Request, Response } from 'express';
import { ZodValidationException } from 'nestjs-zod';
import { ZodError } from 'zod';
import { storageError } from '../storage/database.js';
import { problemOf, problemType } from './problem.js';

/** Every failure of a route becomes a problem document; what is nobody's fault but ours says nothing of itself. */
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
    const error = storageError(thrown);
    if (error instanceof AppError) return error;
    if (error instanceof ZodValidationException) return invalid(error.getZodError());
    if (error instanceof HttpException) return fromStatus(error.getStatus(), error.message);
    const status = (error as { status?: unknown } | null)?.status;
    if (typeof status === 'number' && status < 500) return fromStatus(status, String(error));
    this.logger.error({ error, method: request.method, path: request.path });
    return new AppError('internal', 'Something went wrong in the server; its log says what.');
  }
}

function invalid(error: unknown): AppError {
  const issue = error instanceof ZodError ? error.issues[0] : undefined;
  const where = issue?.path.join('.');
  const what = issue?.message ?? 'it cannot be read';
  return new AppError('invalid_input', where ? `${where}: ${what}.` : `${what}.`);
}

const codes: Record<number, ErrorCode> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  413: 'too_large',
};

function fromStatus(status: number, message: string): AppError {
  return new AppError(codes[status] ?? 'invalid_input', message.replace(/^\w*Error: /, ''));
}
