import type { MadeToken } from '@belay/protocol';
import type { Selectable } from 'kysely';
import { hashOfSecret, randomSecret } from '../storage/secrets.js';
import type { AccessTokenTable } from '../storage/database-schema.js';

/** The application that a token is for, and its time to renew the token, which restarts at each renewal. */
export interface RefreshGrant {
  client: string;
  refreshMs: number;
}

export interface RefreshableToken extends MadeToken {
  refresh: string;
}

type RefreshColumns = Pick<
  Selectable<AccessTokenTable>,
  'client' | 'refresh_family' | 'refresh_hash' | 'refresh_expires'
>;

export const noRefresh: RefreshColumns = {
  client: null,
  refresh_family: null,
  refresh_hash: null,
  refresh_expires: null,
};

interface RefreshToken {
  /** The id of the token that it renews. */
  id: string;
  /** Shared by all refresh tokens that follow each other, so that the use of an outdated one is detected. */
  family: string;
  secret: string;
}

const form = /^blr_([0-9a-f]{12})\.([\w-]{43})\.([\w-]{43})$/;

/** Undefined for text that is not a refresh token. */
export function readRefresh(text: string): RefreshToken | undefined {
  const [, id = '', family = '', secret = ''] = form.exec(text) ?? [];
  return id === '' ? undefined : { id, family, secret };
}

/** The next refresh token, in the given family or a new one. */
export function nextRefresh(
  { id, family = randomSecret() }: Pick<RefreshToken, 'id'> & { family?: string },
  { client, refreshMs }: RefreshGrant,
): { refresh: string; columns: RefreshColumns } {
  const secret = randomSecret();
  const columns = {
    client,
    refresh_family: hashOfSecret(family),
    refresh_hash: hashOfSecret(secret),
    refresh_expires: new Date(Date.now() + refreshMs).toISOString(),
  };
  return { refresh: `blr_${id}.${family}.${secret}`, columns };
}
