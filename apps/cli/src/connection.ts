import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@belay/protocol';
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
  if (!token)
    throw new AppError('unauthorized', `Set BELAY_TOKEN to the token of the server at ${url}.`);
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
