import {
  Catch,
  HttpException,
  Logger,
  NotFoundException,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import {
  allRoutes,
  api,
  AppError,
  mcpPath,
  problemOf,
  problemType,
  type ErrorCode,
  type Route,
} from '@belay/protocol';
import type { Request, Response } from 'express';
import { baseUrlOf } from '../base-url.js';
import { takesBasicAuth } from '../gpt/basic-auth.js';
import { retryAfterOf } from '../limits/request-rates.js';
import { knownError, unexpected } from '../problem.js';
import { routesAt } from '../routes-at.js';

/** Converts every failure of a route to a problem document. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  readonly #logger = new Logger('Http');

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const error = this.#known(thrown, http.getRequest<Request>());
    const response = http.getResponse<Response>();
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const problem = problemOf(error);
    response.locals['code'] = error.code;
    if (problem.status === 401)
      response.set('www-authenticate', challenge(http.getRequest<Request>()));
    if (problem.status === 405) response.set('allow', methodsAt(http.getRequest<Request>().path));
    const retryAfter = retryAfterOf(error);
    if (retryAfter !== undefined) response.set('retry-after', retryAfter);
    response.status(problem.status).type(problemType).send(JSON.stringify(problem));
  }

  #known(thrown: unknown, request: Request): AppError {
    const known = knownError(thrown) ?? refused(thrown, request);
    if (known) return known;
    this.#logger.error({ error: thrown, method: request.method, path: request.path });
    return unexpected();
  }
}

/** Tells MCP clients where to get a token (RFC 9728), and custom GPTs that they may use basic auth. */
function challenge(request: Request): string {
  if (takesBasicAuth(request.path)) return 'Bearer, Basic realm="Belay"';
  if (request.path !== mcpPath) return 'Bearer';
  const metadata = `${baseUrlOf(request)}${api.oauth.resourceOfMcp.path}`;
  return `Bearer resource_metadata="${metadata}"`;
}

/** Converts errors of Nest, Express and the body parser to an `AppError`. */
function refused(error: unknown, request: Request): AppError | undefined {
  const { method, path } = request;
  if (error instanceof NotFoundException) {
    const allowed = methodsAt(path);
    if (allowed === '') return new AppError('not_found', `There is nothing at ${method} ${path}.`);
    const sentence = `${path} does not take ${method}. Use ${allowed}.`;
    return new AppError('method_not_allowed', sentence);
  }
  if (request.readableAborted) return new AppError('cancelled', 'The request was aborted.');
  const status = error instanceof HttpException ? error.getStatus() : statusOf(error);
  if (status === undefined || status >= 500) return undefined;
  const why = error instanceof Error ? error.message : String(error);
  return new AppError(codes[status] ?? 'invalid_input', `The request cannot be read: ${why}.`);
}

/**
 * The methods of a path, as in the header Allow; empty for an unknown path. Routes of GET also answer HEAD. Of the routes
 * that match, those with the most literal path count, as in OpenAPI: `/api/rules/preview` is not a rule.
 */
function methodsAt(path: string): string {
  const found = routesAt(path, allRoutes);
  const fewest = Math.min(...found.map(parameters));
  const methods = found.filter((one) => parameters(one) === fewest).map(({ method }) => method);
  const withHead = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...new Set(withHead)].join(', ');
}

const parameters = ({ path }: Route): number => path.split(':').length;

/** The body parser’s errors have a status of their own. */
function statusOf(error: unknown): number | undefined {
  const status = (error as { status?: unknown } | null)?.status;
  return typeof status === 'number' ? status : undefined;
}

const codes: Record<number, ErrorCode> = { 404: 'not_found' };
