import { Injectable } from '@nestjs/common';
import { ignoreError } from '@belay/protocol';
import { z } from 'zod';
import type { Caller } from '../../access/caller.js';
import { CallerEnds } from '../../access/caller-ends.js';
import { ExpiringValues, type StoredValue } from '../../storage/expiring-values.js';
import { mostCrowded } from '../../storage/most-crowded.js';
import { OneTimeValues } from '../../storage/one-time-values.js';
import { hashOfSecret, randomSecret } from '../../storage/secrets.js';
import { Identity } from '../auth/identity.js';
import { PreviewAddress, type PreviewTarget } from './preview-address.js';

/** A caller’s access to one port of one session, in one browser. */
export interface PreviewGrant {
  readonly target: PreviewTarget;
  readonly caller: Caller;
  readonly origin: string;
  /** The preview’s origin for another port of the session. */
  originOf(port: number): string;
  /** The page that may frame it; undefined if no page requested it. */
  readonly dashboard: string | undefined;
  /** Aborted when the caller loses its access, or the grant expires. */
  readonly ended: AbortSignal;
}

export interface WantedPreview {
  target: PreviewTarget;
  caller: Caller;
  /** The origin through which the caller uses the server. */
  from: string;
  /** See `PreviewGrant`. */
  dashboard: string | undefined;
}

const kind = 'preview';
/** What is stored of a grant: its caller’s rights are looked up at each use. */
const storedGrant = z.object({
  session: z.string(),
  port: z.number(),
  caller: z.string(),
  login: z.string().optional(),
  from: z.string(),
  dashboard: z.string().optional(),
  expires: z.number(),
});

const ticketMs = 60_000;
export const grantMs = 12 * 3600_000;
/** Beyond this limit, a new grant ends the oldest of the caller with the most. */
const maxGrants = 1_000;

interface Kept {
  grant: PreviewGrant;
  /** The grant’s row, once it has one. */
  stored: StoredValue | undefined;
  /** Sets the time after which the grant ends, unless it is called again. */
  endAfter(milliseconds: number): void;
  end(): void;
}

interface Ticket {
  kept: Kept;
  wanted: WantedPreview;
  path: string;
}

/**
 * Tickets and grants of previews. A ticket is part of an address, so it is valid once, for a minute and on one origin; it
 * becomes the secret of a cookie that is sent only to that origin. A grant is stored in the database, so that it is valid
 * for whichever server works on the session.
 */
@Injectable()
export class PreviewGrants {
  readonly #tickets = new OneTimeValues<Ticket>(ticketMs, maxGrants);
  /** Those that were used here, by the hashes of their secrets. */
  readonly #grants = new Map<string, Kept>();
  /** The hashes of those that have ended, until that is stored. */
  readonly #ending = new Set<string>();
  /** When all grants of a caller ended: those that are just being read are void as well. */
  readonly #endedAt = new Map<string, number>();

  constructor(
    private readonly values: ExpiringValues,
    private readonly ends: CallerEnds,
    private readonly identity: Identity,
    private readonly addresses: PreviewAddress,
  ) {
    ends.onLogout((caller) => {
      this.#endedAt.set(caller, Date.now());
      return values.clear(kind, caller);
    });
  }

  /** `path` is the first one to open. */
  ticket(wanted: WantedPreview, path: string): string {
    const kept = this.#begin(wanted);
    kept.endAfter(ticketMs);
    return this.#tickets.put({ kept, wanted, path }, wanted.caller.id);
  }

  /**
   * The grant, the secret of its cookie and the first path; undefined for a ticket that was used, has expired, or belongs
   * to another origin.
   */
  async redeem(
    ticket: string,
    target: PreviewTarget,
  ): Promise<{ grant: PreviewGrant; secret: string; path: string } | undefined> {
    const taken = this.#tickets.take(ticket);
    if (!taken || !isFor(taken.kept.grant, target)) return undefined;
    const { kept, wanted, path } = taken;
    const secret = randomSecret();
    kept.endAfter(grantMs);
    this.#add(hashOfSecret(secret), kept);
    await this.#store(kept, wanted, secret).catch(
      ignoreError('it is valid for as long as this server runs'),
    );
    return { grant: kept.grant, secret, path };
  }

  /** The grant that one of these secrets gives on this origin. Rejects with `unavailable` without the database. */
  async find(secrets: readonly string[], target: PreviewTarget): Promise<PreviewGrant | undefined> {
    for (const secret of secrets) {
      const grant = this.#grants.get(hashOfSecret(secret))?.grant ?? (await this.#read(secret));
      if (grant && isFor(grant, target)) return grant;
    }
    return undefined;
  }

  #begin({ target, caller, from, dashboard }: WantedPreview): Kept {
    const originOf = (port: number): string =>
      this.addresses.origin({ ...target, port }, new URL(from));
    const ended = new AbortController();
    const grant = {
      target,
      caller,
      origin: originOf(target.port),
      originOf,
      dashboard,
      ended: ended.signal,
    };
    let timer: NodeJS.Timeout | undefined;
    let off: () => void = () => {};
    const kept: Kept = {
      grant,
      stored: undefined,
      endAfter: (milliseconds) => {
        clearTimeout(timer);
        timer = setTimeout(() => kept.end(), milliseconds).unref();
      },
      end: () => {
        clearTimeout(timer);
        off();
        ended.abort();
        if (kept.stored) this.#remove(kept.stored);
      },
    };
    off = this.ends.on(caller, () => kept.end());
    return kept;
  }

  #add(key: string, kept: Kept): void {
    this.#grants.set(key, kept);
    kept.grant.ended.addEventListener('abort', () => this.#grants.delete(key));
    if (this.#grants.size > maxGrants)
      mostCrowded([...this.#grants.values()], ({ grant }) => grant.caller.id)?.end();
  }

  async #store(
    kept: Kept,
    { target, caller, ...wanted }: WantedPreview,
    secret: string,
  ): Promise<void> {
    const { id: owner, login } = caller;
    const expires = Date.now() + grantMs;
    const text = JSON.stringify({ ...wanted, ...target, caller: owner, login, expires });
    kept.stored = await this.values.add({ kind, secret, owner, text, expires });
    // Its caller may have lost its access meanwhile.
    if (kept.stored && kept.grant.ended.aborted) this.#remove(kept.stored);
    await this.values.limitAll(kind, maxGrants);
  }

  #remove(stored: StoredValue): void {
    this.#ending.add(stored.hash);
    void this.values
      .remove(stored)
      .catch(ignoreError('the rights of its caller are looked up at each use'))
      .finally(() => this.#ending.delete(stored.hash));
  }

  /** One that another server has given, or this one before its start. */
  async #read(secret: string): Promise<PreviewGrant | undefined> {
    const stored = await this.values.find(kind, secret);
    if (!stored || this.#ending.has(stored.hash)) return undefined;
    const {
      caller: id,
      login,
      expires,
      session,
      port,
      from,
      dashboard,
    } = storedGrant.parse(JSON.parse(stored.text));
    const hasEnded = expires - grantMs <= (this.#endedAt.get(id) ?? -Infinity);
    const caller = hasEnded ? undefined : this.identity.callerById(id, login);
    // Another request may have read it meanwhile.
    const known = this.#grants.get(stored.hash);
    if (known || !caller) return known?.grant;
    const kept = this.#begin({ target: { session, port }, caller, from, dashboard });
    kept.stored = stored;
    kept.endAfter(expires - Date.now());
    this.#add(stored.hash, kept);
    return kept.grant;
  }
}

const isFor = ({ target, ended }: PreviewGrant, { session, port }: PreviewTarget): boolean =>
  !ended.aborted && target.session === session && target.port === port;
