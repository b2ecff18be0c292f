import {
  pluralText,
  type MadeToken,
  type NewToken,
  type Scope,
  type SessionAccess,
  type TokenInfo,
} from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { clientFor, findSession, type PrintOptions, type Where } from '../connection.js';
import { outputTo, singleLine } from '../output.js';
import { printList } from '../print-list.js';

/** `belay tokens`: one line per token, newest first. */
export async function listTokens(options: PrintOptions): Promise<void> {
  printList(await clientFor(options).tokens.list(), options, {
    empty: 'No tokens yet. Create one: belay tokens create --scope view --label NAME',
    row: ({ id, scope, sessions, label, expires, lastUsed }) => [
      id,
      scope,
      sessionsOf(sessions),
      expires ? `until ${day(expires)}` : 'no expiry',
      lastUsed ? `used ${day(lastUsed)}` : 'never used',
      label,
    ],
  });
}

interface TokenOptions {
  scope: Scope;
  session?: string[];
  expires?: string;
  label: string;
  machine?: string;
  image?: string;
  root?: boolean;
}

/** `belay tokens create`: prints only the token to standard output, for use in scripts. */
export async function createToken(options: PrintOptions & TokenOptions): Promise<void> {
  const client = clientFor(options);
  const made = await client.tokens.create({
    label: options.label,
    scope: options.scope,
    sessions: await sessionsFor(client, options.session),
    expires: options.expires ?? null,
    ...sandboxFor(options),
  });
  print(made, options);
}

/** `belay tokens rotate`. */
export async function rotateToken(id: string, options: PrintOptions): Promise<void> {
  print(await clientFor(options).tokens.rotate(id), options);
}

/** `belay tokens revoke`. */
export async function revokeToken(id: string, options: Where): Promise<void> {
  await clientFor(options).tokens.revoke(id);
  outputTo(process.stderr).line(`Revoked ${id}.`);
}

function print(made: MadeToken, { json }: PrintOptions): void {
  const output = outputTo(process.stdout);
  if (json) return output.json(made);
  output.line(made.token);
  outputTo(process.stderr).line(
    `Token ${made.id} for ${singleLine(made.label)}. Save it now: it is not shown again.`,
  );
}

/** Where its sessions run; nothing for the usual sandbox. */
function sandboxFor({ machine, image, root = false }: TokenOptions): Pick<NewToken, 'sandbox'> {
  if ((machine ?? image) === undefined && !root) return {};
  const profile = root ? 'root' : 'hardened';
  return { sandbox: { machine: machine ?? null, image: image ?? null, profile } };
}

/** Resolves ids to full ones; keeps `own`, and prefixes with a `*`. */
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
