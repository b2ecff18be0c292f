import { createHash } from 'node:crypto';
import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AppError, idempotencyKey, sessionCommands, type Route } from '@belay/protocol';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { newSessionId } from '../../sessions/session-creation.js';
import { ExpiringValues } from '../../storage/expiring-values.js';
import { callerOf } from '../auth/access.guard.js';
import { routeKey } from '../auth/serves.js';
import { IdempotencyKeys } from './idempotency-keys.js';

/** Every POST with JSON, or without a body, may have an `Idempotency-Key`. Uploads are not compared. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  readonly #keys: IdempotencyKeys;

  constructor(
    values: ExpiringValues,
    private readonly reflector: Reflector,
  ) {
    this.#keys = new IdempotencyKeys(values);
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType() !== 'http') return next.handle();
    const request = context.switchToHttp().getRequest<Request>();
    const key = keyOf(request);
    if (key === undefined) return next.handle();
    const work = (creates: string | undefined): Promise<unknown> => {
      if (creates !== undefined) createdIds.set(request, creates);
      return lastValueFrom(next.handle(), { defaultValue: undefined });
    };
    const route = this.reflector.get<Route | undefined>(routeKey, context.getHandler());
    const response = context.switchToHttp().getResponse<Response>();
    const answer = this.#keys.once(
      callerOf(request).id,
      { key, fingerprint: fingerprintOf(request), creates: newIdOf(route) },
      work,
    );
    return from(
      answer.then(({ value, repeated }) => {
        if (repeated) response.set('idempotency-replayed', 'true');
        return value;
      }),
    );
  }
}

const createdIds = new WeakMap<Request, string>();

/** The id that the session of this request gets, so that a repetition finds it; undefined for any. */
export const idToCreate = (request: Request): string | undefined => createdIds.get(request);

const newIdOf = (route: Route | undefined): string | undefined =>
  route?.command !== undefined && sessionCommands[route.command].createsById
    ? newSessionId()
    : undefined;

function keyOf({ method, headers, body }: Request): string | undefined {
  const key = headers['idempotency-key'];
  if (method !== 'POST' || key === undefined) return undefined;
  const hasBytes =
    Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
  if (body === undefined && hasBytes) return undefined;
  if (typeof key === 'string' && idempotencyKey.safeParse(key).success) return key;
  throw new AppError('invalid_input', 'An Idempotency-Key has 1 to 200 visible ASCII characters.');
}

const fingerprintOf = ({ originalUrl, body }: Request): string =>
  createHash('sha256')
    .update(`${originalUrl}\n${JSON.stringify(body)}`)
    .digest('base64url');
