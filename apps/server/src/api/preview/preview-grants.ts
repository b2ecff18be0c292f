import { Injectable } from '@nestjs/common';
import type { Caller } from '../../access/caller.js';
import { CallerEnds } from '../../access/caller-ends.js';
import { mostCrowded } from '../../storage/most-crowded.js';
import { OneTimeValues } from '../../storage/one-time-values.js';
import { hashOfSecret, randomSecret } from '../../storage/secrets.js';
import type { PreviewTarget } from './preview-address.js';

/** A caller’s access to one port of one session, in one browser. */
export interface PreviewGrant {
  readonly target: PreviewTarget;
  readonly caller: Caller;
  readonly origin: string;
  /** The preview’s origin for another port of the session. */
  originOf(port: number): string;
  /** The page that may frame it; undefined if no page requested it. */
  readonly dashboard: string | undefined;
  /** The first path to open. */
  readonly path: string;
  /** Aborted when the caller loses its access, or the grant expires. */
  readonly ended: AbortSignal;
}

const ticketMs = 60_000;
export const grantMs = 12 * 3600_000;
/** Beyond this limit, a new grant ends the oldest of the caller with the most. */
const maxGrants = 1_000;

interface Kept {
  grant: PreviewGrant;
  /** Sets the time after which the grant ends, unless it is called again. */
  endAfter(milliseconds: number): void;
  end(): void;
}

/**
 * Tickets and grants of previews, in memory only. A ticket is part of an address, so it is valid once, for a minute
 * and on one origin; it becomes the secret of a cookie that is sent only to that origin.
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
    const kept = { grant: { ...wanted, ended: ended.signal }, endAfter, end };
    return this.#tickets.put(kept, wanted.caller.id);
  }

  /**
   * The grant and the secret of its cookie; undefined for a ticket that was used, has expired, or belongs to another
   * origin.
   */
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
    if (this.#grants.size > maxGrants)
      mostCrowded([...this.#grants.values()], ({ grant }) => grant.caller.id)?.end();
    return { grant: kept.grant, secret };
  }

  /** The grant that one of these secrets gives on this origin. */
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
