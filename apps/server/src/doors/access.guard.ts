import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AppError } from '@belay/protocol';
import type { Request } from 'express';
import { Identity } from './identity.js';
import { openKey } from './open.js';

/** Every route asks for a token unless it is marked `@Open()`; a viewer's token only reads. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly identity: Identity,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    if (context.getType() !== 'http') return true;
    const targets = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean>(openKey, targets)) return true;
    const request = context.switchToHttp().getRequest<Request>();
    const role = this.identity.role(request.headers);
    if (!role) throw unauthorized();
    if (role === 'viewer' && request.method !== 'GET' && request.method !== 'HEAD') {
      throw new AppError('forbidden', 'This token may watch and not touch.');
    }
    return true;
  }
}

export const unauthorized = (): AppError =>
  new AppError(
    'unauthorized',
    'Open the address with its token that the server printed at its start.',
  );
