import {
  pluralText,
  type MadeToken,
  type Scope,
  type SessionAccess,
  type TokenInfo,
} from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { clientOf, findServer, findSession, type Where } from '../connection.js';
import { oneLine, outputTo } from '../output.js';

type Json = Where & { json?: boolean };

/** `belay tokens`: one line per token, newest first. */
export async function listTokens(options: Json): Promise<void> {
  const output = outputTo(process.stdout);
  const tokens = await clientOf(findServer(options)).tokens.list();
  if (options.json) return output.json(tokens);
  if (tokens.length === 0)
    return output.line('No tokens yet. Make one: belay tokens create --scope view --label NAME');
  for (const { id, scope, sessions, label, expires, lastUsed } of tokens) {
    const used = lastUsed ? `used ${day(lastUsed)}` : 'never used';
    const until = expires ? `until ${day(expires)}` : 'no expiry';
    const begin = `${id}  ${scope.padEnd(7)}  ${sessionsOf(sessions).padEnd(14)}  ${until.padEnd(16)}  ${used.padEnd(15)}  `;
    output.line(begin + oneLine(label, Math.max(20, output.width - begin.length)));
  }
}

/** `belay tokens create`: the token alone on standard output, so that a script can take it. */
export async function createToken(
  options: Json & { scope: Scope; session?: string[]; expires?: string; label: string },
): Promise<void> {
  const client = clientOf(findServer(options));
  const made = await client.tokens.create({
    label: options.label,
    scope: options.scope,
    sessions: await sessionsFor(client, options.session),
    expires: options.expires ?? null,
  });
  print(made, options);
}

/** `belay tokens rotate`. */
export async function rotateToken(id: string, options: Json): Promise<void> {
  print(await clientOf(findServer(options)).tokens.rotate(id), options);
}

/** `belay tokens revoke`. */
export async function revokeToken(id: string, options: Where): Promise<void> {
  await clientOf(findServer(options)).tokens.revoke(id);
  outputTo(process.stderr).line(`Revoked ${id}.`);
}

function print(made: MadeToken, { json }: Json): void {
  const output = outputTo(process.stdout);
  if (json) return output.json(made);
  output.line(made.token);
  outputTo(process.stderr).line(
    `Token ${made.id} for ${oneLine(made.label)}. Keep it now: it is not shown again.`,
  );
}

/** Ids in full; `own`, and the beginning of ids with a `*`, as they are. */
async function sessionsFor(
  client: BelayClient,
  given: readonly string[] | undefined,
): Promise<SessionAccess> {
  if (!given || given.length === 0) return 'all';
  if (given.length === 1 && given[0] === 'own') return 'own';
  const found: string[] = [];
  for (const name of given) {
    found.push(name.endsWith('*') ? name : (await findSession(client, name)).id);
  }
  return found;
}

function sessionsOf(sessions: TokenInfo['sessions']): string {
  if (!Array.isArray(sessions)) return `${sessions} sessions`;
  return sessions.length === 1 ? (sessions[0] ?? '') : pluralText(sessions.length, 'session');
}

const day = (time: string): string => time.slice(0, 10);
