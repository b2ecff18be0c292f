import { Injectable } from '@nestjs/common';
import type { ForgeUser } from '@belay/protocol';
import { Clock } from '../clock.js';
import { hasLevel, type Forge, type ForgeLevel } from '../forges/forge.js';

const yesMs = 5 * 60_000;
/** Shorter, because a user who was just given access tries again. */
const noMs = 30_000;
const maxKnown = 10_000;

interface KnownLevel {
  level: ForgeLevel;
  until: number;
}

/** What users may do in repositories, as their hosts say when they are asked; never what a payload says about them. */
@Injectable()
export class Permissions {
  readonly #known = new Map<string, KnownLevel>();

  constructor(private readonly clock: Clock) {}

  /** At most five minutes old. Throws `forbidden` if the host does not say it to this server’s token. */
  async levelOf(forge: Forge, user: ForgeUser): Promise<ForgeLevel> {
    const known = this.#known.get(keyOf(forge, user));
    if (known && known.until > this.clock.now().getTime()) return known.level;
    return this.levelNow(forge, user);
  }

  /** Asked now. */
  async levelNow(forge: Forge, user: ForgeUser): Promise<ForgeLevel> {
    const key = keyOf(forge, user);
    this.#known.delete(key);
    const level = await forge.level(user);
    if (this.#known.size >= maxKnown) this.#known.clear();
    const ms = hasLevel(level, 'write') ? yesMs : noMs;
    this.#known.set(key, { level, until: this.clock.now().getTime() + ms });
    return level;
  }
}

const keyOf = ({ host, path }: Forge, { id }: ForgeUser): string =>
  JSON.stringify([host, path.toLowerCase(), id]);
