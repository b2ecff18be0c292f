import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AppError } from '@belay/protocol';
import type { Request } from 'express';
import { mayOnlyWatch } from '../sessions/dispatcher.js';
import { openKey, viewersKey } from './access.js';
import { Identity } from './identity.js';

/** Every route asks for a token unless it is marked `@Open()`; a viewer's token only reads, unless it is `@ViewersToo()`. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly identity: Identity,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    if (this.isMarked(context, openKey)) return true;
    const { headers, method } = context.switchToHttp().getRequest<Request>();
    const role = this.identity.role(headers);
    if (!role) throw unauthorized();
    const reads = method === 'GET' || method === 'HEAD';
    if (role === 'viewer' && !reads && !this.isMarked(context, viewersKey)) throw mayOnlyWatch();
    return true;
  }

  private isMarked(context: ExecutionContext, key: string): boolean {
    return this.reflector.get<boolean>(key, context.getHandler()) ?? false;
  }
}

export const unauthorized = (): AppError =>
  new AppError(
    'unauthorized',
    'Open the address with its token that the server printed at its start.',
  );
