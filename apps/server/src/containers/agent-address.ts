import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { AppError } from '@belay/protocol';

/**
 * `wss://HOST:PORT` with an address in the place of a name, such as that of a Service, because pods resolve no names.
 * Throws `unavailable` for a name that this machine cannot resolve.
 */
export async function agentAddress(url: string): Promise<string> {
  const { protocol, hostname, port } = new URL(url);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return url;
  try {
    const { address, family } = await lookup(hostname);
    return `${protocol}//${family === 6 ? `[${address}]` : address}:${port}`;
  } catch (error) {
    throw new AppError(
      'unavailable',
      `BELAY_AGENT_URL names ${hostname}, which cannot be resolved (${(error as Error).message}). Correct it, or write an address.`,
    );
  }
}
