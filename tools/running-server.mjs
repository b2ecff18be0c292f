import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The data folder of a server that is given none: as the server itself and `belay` find it. */
export function dataFolder(env = process.env) {
  const xdg = env.XDG_DATA_HOME || join(homedir(), '.local', 'share');
  return env.BELAY_DATA || join(xdg, 'belay');
}

/** The address, with its token, of the server that works on a data folder; undefined when none answers. */
export async function runningServer(folder) {
  try {
    const { url, token } = JSON.parse(readFileSync(join(folder, 'server.json'), 'utf8'));
    const answer = await fetch(`${url}/api/models`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(2_000),
    });
    return answer.ok ? `${url}/?token=${token}` : undefined;
  } catch {
    return undefined;
  }
}
