import { api, AppError, type MadeToken, type TokenInfo } from '@belay/protocol';
import { Req } from '@nestjs/common';
import type { Request } from 'express';
import { assertWithinOwnTime } from '../../access/assert-within-own-time.js';
import { ownerCaller } from '../../access/caller.js';
import { TokensStore } from '../../access/tokens.store.js';
import { callerOf } from '../auth/access.guard.js';
import { Identity } from '../auth/identity.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.tokens>;

@RestController(api.tokens)
export class TokensController {
  constructor(
    private readonly tokens: TokensStore,
    private readonly identity: Identity,
  ) {}

  list(): TokenInfo[] {
    return this.tokens.list();
  }

  create({ body }: Inputs['create'], @Req() request: Request): Promise<MadeToken> {
    const maker = callerOf(request);
    assertWithinOwnTime(maker, body.expires);
    return this.tokens.create(body, maker);
  }

  /** The new secret is access, too: it ends no later than its maker’s. */
  async rotate({ params }: Inputs['rotate'], @Req() request: Request): Promise<MadeToken> {
    const caller = callerOf(request);
    const isOwn = this.identity.isOwnToken(params.token);
    assertWithinOwnTime(caller, isOwn ? null : this.tokens.expiresOf(params.token));
    if (isOwn && caller.id !== ownerCaller.id) throw onlyOwner();
    return (await this.identity.rotate(params.token)) ?? this.tokens.rotate(params.token, caller);
  }

  revoke({ params }: Inputs['revoke']): Promise<void> {
    return this.tokens.revoke(params.token);
  }
}

/** Their secrets would outlive the rights of anyone else. */
const onlyOwner = (): AppError =>
  new AppError(
    'forbidden',
    'Only the main token rotates the server’s own two tokens. Run on the server’s machine: belay tokens rotate owner',
  );
