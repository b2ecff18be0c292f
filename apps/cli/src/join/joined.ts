import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { hostname, release, type } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@belay/client';
import { AppError, type MachineDescription, type MachineKind } from '@belay/protocol';
import { z } from 'zod';
import { userDataFolder } from '../connection.js';
import { readSaved } from '../saved-file.js';

const saved = z.object({
  url: z.string(),
  id: z.string(),
  name: z.string(),
  credential: z.string(),
  kind: z.enum(['bare', 'container']),
});
export type Joined = z.output<typeof saved>;

const allJoined = (): string => join(userDataFolder(), 'joined');

/**
 * The folder with this machine’s credential for a server, and the files of sessions that run here. It exists from the
 * join until `belay leave`.
 */
export const joinedFolder = (url: URL): string =>
  join(allJoined(), url.host.replaceAll(/[^\w.-]/g, '_'));

/** The addresses of the servers that this machine has joined. */
export function joinedServers(): string[] {
  const folder = allJoined();
  if (!existsSync(folder)) return [];
  const machines = readdirSync(folder).map((name) => savedMachine(join(folder, name)));
  return machines.flatMap((machine) => machine?.url ?? []).toSorted();
}

/** The connection carries code that runs here, so it must be encrypted, unless it stays on this machine. */
export function checkedUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new AppError('invalid_input', `${text} is not a URL. Write it as https://HOST.`);
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return url;
  throw new AppError(
    'invalid_input',
    `${url.origin} is not encrypted: anyone on the network path could run commands here. Use https://`,
  );
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);

/** The credential of an earlier join; undefined without one. */
const savedMachine = (folder: string): Joined | undefined =>
  readSaved(join(folder, 'machine.json'), saved);

/** The label of everything that agents of the server have in this machine’s engine. */
export const instanceOf = (folder: string): string =>
  createHash('sha256').update(folder).digest('hex').slice(0, 12);

/** Uses the one-time token, or the credential of an earlier join. */
export async function joinedAs(
  url: URL,
  folder: string,
  { token, kind }: { token: string | undefined; kind: MachineKind },
): Promise<Joined> {
  const file = join(folder, 'machine.json');
  if (token === undefined) {
    const known = savedMachine(folder);
    if (!known)
      throw new AppError(
        'invalid_input',
        `This machine has not joined ${url.origin} yet. Create a token there (belay machines add NAME) and pass it with --token.`,
      );
    if (known.kind !== kind) {
      const how = known.kind === 'container' ? 'with --container' : 'without --container';
      throw new AppError(
        'invalid_input',
        `This machine joined ${how}. Run it ${how}, or join again with a new token.`,
      );
    }
    return known;
  }
  const client = createClient({ url: url.origin });
  const { id, name, credential } = await client.machines.join({
    token,
    description: description(kind),
  });
  const joined = { url: url.origin, id, name, credential, kind };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  writeFileSync(file, JSON.stringify(joined), { mode: 0o600 });
  chmodSync(file, 0o600);
  return joined;
}

export const description = (kind: MachineKind): MachineDescription => ({
  host: hostname().slice(0, 255) || 'unknown',
  os: systemName().slice(0, 100),
  arch: process.arch,
  kind,
});

function systemName(): string {
  try {
    const found = /^PRETTY_NAME="?([^"\n]+)/m.exec(readFileSync('/etc/os-release', 'utf8'));
    if (found?.[1]) return found[1];
  } catch {
    // Other systems lack this file.
  }
  return `${type()} ${release()}`;
}
