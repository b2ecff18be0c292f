import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { AppError, type SessionSummary } from '@belay/protocol';
import { createClient, Live, type Address, type BelayClient } from '@belay/client';
import { z } from 'zod';

/** What a running server writes beside its data, for its own user alone. */
const serverFile = z.object({ url: z.string(), token: z.string() });

export interface Where {
  url?: string;
  data?: string;
}

/** The folder that holds a server's data: `--data`, BELAY_DATA, or the XDG data folder. */
export function dataFolder(where: Where = {}): string {
  const xdg = process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share');
  return where.data ?? (process.env.BELAY_DATA || join(xdg, 'belay'));
}

/** Finds the server: `--url` or BELAY_URL with BELAY_TOKEN, else the one that uses the data folder. */
export function findServer(where: Where): Address & { token: string } {
  const file = join(dataFolder(where), 'server.json');
  const known = existsSync(file) ? serverFile.safeParse(readJson(file)).data : undefined;
  const url = where.url ?? process.env.BELAY_URL ?? known?.url;
  const token = process.env.BELAY_TOKEN ?? known?.token;
  if (!url)
    throw new AppError('unavailable', 'No Belay server runs here. Start one with `npm start`.');
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new AppError('invalid_input', `${url} is no address; write it as http://127.0.0.1:4600.`);
  if (!token)
    throw new AppError('invalid_input', `Set BELAY_TOKEN to the token of the server at ${url}.`);
  return { url: url.replace(/\/$/, ''), token };
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

export interface Connection {
  client: BelayClient;
  live: Live;
  url: string;
}

/** Connects to the server; the caller closes `live`. */
export function connect(where: Where): Connection {
  const address = findServer(where);
  return { client: createClient(address), live: new Live(address), url: address.url };
}

/**
 * The session that a person means: its id, the first letters of its id or of what follows the dash
 * there, or `last`, the newest.
 */
export async function findSession(client: BelayClient, text: string): Promise<SessionSummary> {
  const sessions = await client.sessions.list();
  const exact = sessions.find(({ id }) => id === text);
  const newest = sessions.toSorted((a, b) => b.created.localeCompare(a.created))[0];
  if (exact ?? (text === 'last' && newest)) return (exact ?? newest) as SessionSummary;
  const fitting = sessions.filter(({ id }) =>
    [id, id.slice(id.indexOf('-') + 1)].some((name) => text !== '' && name.startsWith(text)),
  );
  const [found] = fitting;
  if (!found)
    throw new AppError('not_found', `There is no session ${text}; belay list shows them.`);
  if (fitting.length === 1) return found;
  const names = fitting.slice(0, 5).map(({ id }) => id);
  const more = fitting.length > names.length ? ', …' : '';
  throw new AppError(
    'invalid_input',
    `${fitting.length} sessions begin with ${text}: ${names.join(', ')}${more}; write more of the id.`,
  );
}
