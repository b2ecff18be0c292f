import { Injectable } from '@nestjs/common';
import { AppError, type AutomationEvent, type ForgeUser } from '@belay/protocol';
import { hasLevel, type Forge, type ForgeLevel } from '../forges/forge.js';
import type { RunRecord } from '../run-record.js';
import type { DecisionList } from './decision-list.js';
import { isBot, isListed, isListedById, nameOfUser } from './listed-user.js';
import { OwnOrigin } from './own-origin.js';
import { Permissions } from './permissions.js';

/** Whether the one who did something may begin a run. */
@Injectable()
export class Actors {
  constructor(
    private readonly permissions: Permissions,
    private readonly own: OwnOrigin,
  ) {}

  /** The actor’s permission; null where no user has to have one. Throws `RunRefusal`. */
  async check(run: RunRecord, forge: Forge, decisions: DecisionList): Promise<string | null> {
    const { event, actor } = run.occurrence;
    if (ownerEvents.has(event)) {
      decisions.holds('permission', 'It acts for its owner.');
      return null;
    }
    if (isOfChecks(event)) return this.#checksOf(run, decisions);
    if (actor === null && event !== 'push')
      throw decisions.refusal('refused', 'permission', 'The git host does not say who did it.');
    if (actor !== null) await this.#notOwn(forge, actor, decisions);
    if (actor !== null) notBot(run, actor, decisions);
    if (actor === null || event === 'push') {
      decisions.holds('permission', 'A push to a branch of the repository needs write access.');
      return null;
    }
    return this.#permissionOf(run, { forge, actor, decisions });
  }

  /** Asked again, of the host itself, before anything is sent. */
  async stillMay(run: RunRecord, forge: Forge): Promise<boolean> {
    const { event, actor } = run.occurrence;
    const { actors, users, bots } = run.definition.trust;
    if (ownerEvents.has(event) || isOfChecks(event) || event === 'push') return true;
    if (actor === null) return false;
    if (isBot(actor)) return isListed(bots, actor);
    if (users.length > 0 && !isListed(users, actor)) return false;
    try {
      return hasLevel(await this.permissions.levelNow(forge, actor), actors);
    } catch (error) {
      if (isForbidden(error)) return isListedById(users, actor);
      throw error;
    }
  }

  /** Nobody asks for a run when checks end; on what the server pushed itself they would go round in circles. */
  async #checksOf({ occurrence, definition }: RunRecord, decisions: DecisionList): Promise<null> {
    const { sha } = occurrence;
    if (sha === undefined)
      throw decisions.refusal('refused', 'permission', 'The event names no commit.');
    const isOwn = await this.own.pushed(sha);
    if (isOwn && !definition.trust.self)
      throw decisions.refusal(
        'skipped',
        'own',
        'This server pushed the commit: set trust.self to follow up its own checks.',
      );
    decisions.holds('own', isOwn ? 'Its own checks are trusted.' : 'The commit is of others.');
    return null;
  }

  async #notOwn(forge: Forge, actor: ForgeUser, decisions: DecisionList): Promise<void> {
    const { self } = await this.own.of(forge);
    if (actor.id === self)
      throw decisions.refusal('skipped', 'own', 'This server did it itself, with its own token.');
    decisions.holds('own', 'Somebody else did it.');
  }

  async #permissionOf(
    { definition: { trust } }: RunRecord,
    { forge, actor, decisions }: { forge: Forge; actor: ForgeUser; decisions: DecisionList },
  ): Promise<string | null> {
    const name = nameOfUser(actor);
    if (isBot(actor)) {
      decisions.holds('permission', `trust.bots names ${name}.`);
      return 'bot';
    }
    if (trust.users.length > 0 && !isListed(trust.users, actor))
      throw decisions.refusal('refused', 'permission', `trust.users does not name ${name}.`);
    const level = await this.#levelOf(forge, actor);
    if (level === null) {
      if (!isListedById(trust.users, actor))
        throw decisions.refusal('refused', 'permission-unknown', unknownPermission(forge));
      decisions.holds('permission', `trust.users names ${name} by id.`);
      return 'listed';
    }
    if (!hasLevel(level, trust.actors))
      throw decisions.refusal(
        'refused',
        'permission',
        `${name} has the permission ${level} in ${forge.path}, and ${trust.actors} is needed.`,
      );
    decisions.holds('permission', `${name} has the permission ${level} in ${forge.path}.`);
    return level;
  }

  async #levelOf(forge: Forge, actor: ForgeUser): Promise<ForgeLevel | null> {
    try {
      return await this.permissions.levelOf(forge, actor);
    } catch (error) {
      if (isForbidden(error)) return null;
      throw error;
    }
  }
}

const ownerEvents: ReadonlySet<AutomationEvent> = new Set([
  'schedule',
  'url',
  'session.ended',
  'hand',
]);

export const isOfChecks = (event: AutomationEvent): boolean => event.startsWith('checks.');

const isForbidden = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'forbidden';

function notBot({ definition }: RunRecord, actor: ForgeUser, decisions: DecisionList): void {
  if (isBot(actor) && !isListed(definition.trust.bots, actor))
    throw decisions.refusal(
      'skipped',
      'bot',
      `${nameOfUser(actor)} is a bot that trust.bots does not name.`,
    );
  decisions.holds('bot', isBot(actor) ? 'trust.bots names it.' : 'It was not a bot.');
}

const unknownPermission = ({ host, path }: Forge): string =>
  `The token for ${host} may not ask who may write to ${path}: give it repository administration, or list users by id in trust.users.`;
