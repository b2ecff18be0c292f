import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/caller.js';
import { CallerEnds } from '../../access/caller-ends.js';
import { OneTimeValues } from '../../storage/one-time-values.js';
import { hashOfSecret, randomSecret } from '../../storage/secrets.js';
import type { PreviewTarget } from './preview-address.js';

/** What one browser of one caller may see: one port of one session. */
export interface PreviewGrant {
  readonly target: PreviewTarget;
  readonly caller: Caller;
  readonly origin: string;
  /** That of another port of the session. */
  originOf(port: number): string;
  /** The page that may frame it; undefined when no page asked for it. */
  readonly dashboard: string | undefined;
  /** Where to go first. */
  readonly path: string;
  /** Aborted when the caller is none any more, or the grant is too old. */
  readonly ended: AbortSignal;
}

const ticketMs = 60_000;
export const grantMs = 12 * 3600_000;
/** The oldest goes for one more. */
const maxGrants = 1_000;

interface Kept {
  grant: PreviewGrant;
  /** It ends then, unless it is told again. */
  endAfter(milliseconds: number): void;
  end(): void;
}

/**
 * A ticket stands in an address, so it is good once, for a minute and on one origin; it becomes the secret of a cookie,
 * which only that origin is sent. Both are in memory alone.
 */
@Injectable()
export class PreviewGrants {
  readonly #tickets = new OneTimeValues<Kept>(ticketMs, maxGrants);
  readonly #grants = new Map<string, Kept>();

  constructor(private readonly ends: CallerEnds) {}

  ticket(wanted: Omit<PreviewGrant, 'ended'>): string {
    const ended = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    let off: () => void = () => {};
    const end = (): void => {
      clearTimeout(timer);
      off();
      ended.abort();
    };
    const endAfter = (milliseconds: number): void => {
      clearTimeout(timer);
      timer = setTimeout(end, milliseconds).unref();
    };
    endAfter(ticketMs);
    off = this.ends.on(wanted.caller, end);
    return this.#tickets.put({ grant: { ...wanted, ended: ended.signal }, endAfter, end });
  }

  /** The grant and the secret of its cookie; undefined for a ticket that is used, old, or of another origin. */
  redeem(
    ticket: string,
    target: PreviewTarget,
  ): { grant: PreviewGrant; secret: string } | undefined {
    const kept = this.#tickets.take(ticket);
    if (!kept || !isFor(kept.grant, target)) return undefined;
    kept.endAfter(grantMs);
    const secret = randomSecret();
    const key = hashOfSecret(secret);
    this.#grants.set(key, kept);
    kept.grant.ended.addEventListener('abort', () => this.#grants.delete(key));
    const [oldest] = this.#grants.values();
    if (this.#grants.size > maxGrants) oldest?.end();
    return { grant: kept.grant, secret };
  }

  /** What one of these secrets opens on this origin. */
  find(secrets: readonly string[], target: PreviewTarget): PreviewGrant | undefined {
    for (const secret of secrets) {
      const grant = this.#grants.get(hashOfSecret(secret))?.grant;
      if (grant && isFor(grant, target)) return grant;
    }
    return undefined;
  }
}

const isFor = ({ target, ended }: PreviewGrant, { session, port }: PreviewTarget): boolean =>
  !ended.aborted && target.session === session && target.port === port;
