import { randomBytes } from 'node:crypto';
import {
  sessionAccess,
  tokenPrefix,
  tokenSandbox,
  type SessionAccess,
  type TokenInfo,
  type TokenSandbox,
} from '@belay/protocol';
import type { Selectable } from 'kysely';
import type { AccessTokenTable } from '../storage/database-schema.js';
import { randomSecret } from '../storage/secrets.js';
import type { SessionSet } from './caller.js';

/** A stored token; the database has only the hash of its secret. */
export type TokenRow = Selectable<AccessTokenTable>;

/** A viewer link, without its secret. */
export interface LinkInfo {
  id: string;
  label: string;
  created: string;
  expires: string;
  lastUsed: string | null;
  session: string;
}

const prefix = 'token:';
/** The id of a token’s caller. */
export const callerId = (id: string): string => prefix + id;
/** Undefined for a caller without a stored token. */
export const idOfCaller = (caller: string): string | undefined =>
  caller.startsWith(prefix) ? caller.slice(prefix.length) : undefined;

/** Undefined for a token that is not a viewer link. */
export function linkInfoOf(row: TokenRow): LinkInfo | undefined {
  const { link_session: session, expires } = row;
  if (session === null || expires === null) return undefined;
  const { id, label, created, last_used: lastUsed } = row;
  return { id, label, created, expires, lastUsed, session };
}

export function tokenInfoOf(row: TokenRow): TokenInfo {
  const { id, label, scope, created, expires, last_used: lastUsed } = row;
  const sessions = sessionsOfToken(row);
  return { id, label, scope, sessions, created, expires, ...sandboxOfToken(row), lastUsed };
}

export function sandboxOfToken({ sandbox }: Pick<TokenRow, 'sandbox'>): { sandbox?: TokenSandbox } {
  return sandbox === null ? {} : { sandbox: tokenSandbox.parse(JSON.parse(sandbox)) };
}

/** An unreadable row gives no access. */
export function sessionsOfToken({ sessions }: Pick<TokenRow, 'sessions'>): SessionAccess {
  try {
    return sessionAccess.catch('own').parse(JSON.parse(sessions));
  } catch {
    return 'own';
  }
}

export const isOver = ({ expires }: TokenRow): boolean =>
  expires !== null && Date.parse(expires) <= Date.now();

/** Whether an application can renew its token no longer. */
export const hasLapsed = ({ refresh_expires: end }: TokenRow): boolean =>
  Date.parse(end ?? '') <= Date.now();

export const newTokenId = (): string => randomBytes(6).toString('hex');

export const newTokenSecret = (): string => tokenPrefix + randomSecret();

/** The sessions with these ids; a pattern ends with an asterisk. */
export const sessionsMatching = (patterns: readonly string[]): SessionSet => ({
  has: (session) =>
    patterns.some((pattern) =>
      pattern.endsWith('*') ? session.startsWith(pattern.slice(0, -1)) : session === pattern,
    ),
});
