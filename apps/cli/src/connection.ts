import { homedir } from 'node:os';
import { join } from 'node:path';
import { AppError, type SessionSummary } from '@belay/protocol';
import { createClient, LiveConnection, type Address, type BelayClient } from '@belay/client';
import { z } from 'zod';
import { readSaved } from './saved-file.js';

/** The file that a running server writes to its data folder, readable by its own user only. */
const serverFile = z.object({ url: z.string(), token: z.string() });

/** The options that identify the server. */
export interface Where {
  url?: string;
  data?: string;
}

/** The options of commands that print a result. */
export interface PrintOptions extends Where {
  json?: boolean;
}

/** The folder that holds a server’s data: `--data`, BELAY_DATA, or the XDG data folder. */
export const dataFolder = (where: Where = {}): string =>
  where.data ?? (process.env.BELAY_DATA || userDataFolder());

/** Belay’s folder in the user’s XDG data folder. */
export const userDataFolder = (): string =>
  join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'belay');

/** Finds the server: `--url` or BELAY_URL with BELAY_TOKEN, otherwise the one that uses the data folder. */
export function findServer(where: Where): Address & { token: string } {
  const url = serverUrl(where);
  const token = process.env.BELAY_TOKEN || localServer(where)?.token;
  if (!token)
    throw new AppError(
      'invalid_input',
      `There is no token for ${url}. Set BELAY_TOKEN: the owner of that server makes one with \`belay tokens create\`.`,
    );
  return { url, token };
}

/** The server’s URL, for uses without a token. */
export function serverUrl(where: Where): string {
  const url = where.url ?? (process.env.BELAY_URL || localServer(where)?.url);
  if (!url)
    throw new AppError('unavailable', 'No Belay server runs here. Start one with `belay up`.');
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new AppError('invalid_input', `${url} is not a URL. Write it as http://127.0.0.1:4600.`);
  return url.replace(/\/$/, '');
}

/** The address that the data folder’s server wrote there; the server may have ended since. */
export function localServer(where: Where): (Address & { token: string }) | undefined {
  return readSaved(join(dataFolder(where), 'server.json'), serverFile);
}

export interface Connection {
  client: BelayClient;
  live: LiveConnection;
  url: string;
}

/** A REST client with a live connection, which the caller closes. */
export function openConnection(where: Where): Connection {
  const address = findServer(where);
  return { client: clientOf(address), live: new LiveConnection(address), url: address.url };
}

/** A REST client for the found server. */
export const clientFor = (where: Where): BelayClient => clientOf(findServer(where));

export const clientOf = (address: Address): BelayClient =>
  createClient({ ...address, agent: 'belay-cli' });

/**
 * Finds a session by its id, by a prefix of the id or of its part after the dash, or by `last` for the newest. Rejects
 * when none or several match.
 */
export async function findSession(client: BelayClient, text: string): Promise<SessionSummary> {
  const sessions = await client.sessions.list();
  const [newest] = sessions.toSorted((a, b) => b.created.localeCompare(a.created));
  const named = sessions.find(({ id }) => id === text) ?? (text === 'last' ? newest : undefined);
  if (named) return named;
  const matching = sessions.filter(({ id }) =>
    [id, id.slice(id.indexOf('-') + 1)].some((name) => text !== '' && name.startsWith(text)),
  );
  const [found] = matching;
  if (!found) throw new AppError('not_found', `There is no session ${text}. See: belay list`);
  if (matching.length === 1) return found;
  const names = matching.slice(0, 5).map(({ id }) => id);
  const more = matching.length > names.length ? ', …' : '';
  throw new AppError(
    'invalid_input',
    `${matching.length} sessions match ${text}: ${names.join(', ')}${more}. Type more of the id.`,
  );
}
