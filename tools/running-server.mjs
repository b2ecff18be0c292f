import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The default data folder, determined as the server itself and `belay` do. */
export function usualDataFolder(env = process.env) {
  const xdg = env.XDG_DATA_HOME || join(homedir(), '.local', 'share');
  return env.BELAY_DATA || join(xdg, 'belay');
}

/**
 * The address of the server that uses a data folder, with a code for one login; undefined if none
 * answers.
 */
export async function runningServer(folder) {
  try {
    const { url, token } = JSON.parse(readFileSync(join(folder, 'server.json'), 'utf8'));
    const answer = await fetch(`${url}/api/login-codes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(2_000),
    });
    return answer.ok ? `${url}/?code=${(await answer.json()).code}` : undefined;
  } catch {
    return undefined;
  }
}
