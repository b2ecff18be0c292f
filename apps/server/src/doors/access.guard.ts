import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AppError, operationNamed } from '@belay/protocol';
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
    if (role === 'viewer' && !onlyReads(request)) {
      throw new AppError('forbidden', 'This token may watch and not touch.');
    }
    return true;
  }
}

/** Reading a file is a POST too: operations have an input. Trusting a workspace reads, and yet changes what runs. */
function onlyReads({ method, path }: Request): boolean {
  if (method === 'GET' || method === 'HEAD') return true;
  const name = /^\/api\/sessions\/[^/]+\/operations\/([^/]+)$/.exec(path)?.[1] ?? '';
  return operationNamed(name)?.risk === 'read' && name !== 'workspace.trust';
}

export const unauthorized = (): AppError =>
  new AppError(
    'unauthorized',
    'Open the address with its token that the server printed at its start.',
  );
