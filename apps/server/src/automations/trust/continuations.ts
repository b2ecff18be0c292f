import { Injectable } from '@nestjs/common';
import { AppError, type Occurrence } from '@belay/protocol';
import { hasLevel, type Forge } from '../forges/forge.js';
import { isBot, isListedById } from './listed-user.js';
import { OwnOrigin } from './own-origin.js';
import { Permissions } from './permissions.js';

/** Decides who may let a lane go on. */
@Injectable()
export class Continuations {
  constructor(
    private readonly permissions: Permissions,
    private readonly own: OwnOrigin,
  ) {}

  /**
   * Whether a user did it, neither a bot nor this server, who may write to the repository as its host says. `listed` are
   * ids of users for hosts that do not say it. Throws the host’s error, after which it may be asked again.
   */
  async isByWriter(
    { actor, sha }: Pick<Occurrence, 'actor' | 'sha'>,
    forge: Forge,
    listed: readonly string[],
  ): Promise<boolean> {
    if (actor === null || isBot(actor)) return false;
    if (actor.id === (await this.own.of(forge)).self) return false;
    // The token may be one of a user who works with the repository as well.
    if (sha !== undefined && (await this.own.pushed(sha))) return false;
    try {
      return hasLevel(await this.permissions.levelOf(forge, actor), 'write');
    } catch (error) {
      if (error instanceof AppError && error.code === 'forbidden')
        return isListedById(listed, actor);
      throw error;
    }
  }
}
