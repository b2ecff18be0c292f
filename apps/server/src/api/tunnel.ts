import { AppError } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import type { Config } from '../config.js';

export interface Tunnel {
  /** The public address, with TLS. */
  url: string;
  close(): Promise<void>;
}

/** What of ngrok’s package is used. */
interface Ngrok {
  forward(options: { addr: string; authtoken: string }): Promise<{
    url(): string | null;
    close(): Promise<void>;
  }>;
}

const openTimeoutMs = 30_000;

/**
 * Opens the tunnel of the configuration to this server’s own address; without one, to nothing. Throws one sentence: no
 * token, no package, no network, or a server that would answer to anybody.
 */
export async function openTunnel(
  { tunnel }: Pick<Config, 'tunnel'>,
  address: string,
  load: () => Promise<Ngrok> = loadNgrok,
): Promise<Tunnel | undefined> {
  if (!tunnel) return undefined;
  if (!tunnel.token) {
    const remedy = 'Get one at https://dashboard.ngrok.com, and set NGROK_AUTHTOKEN.';
    throw new AppError('invalid_input', `An ngrok tunnel requires a token. ${remedy}`);
  }
  const ngrok = await load();
  await requireAuth(address);
  const opening = ngrok.forward({ addr: address, authtoken: tunnel.token });
  try {
    const listener = await inTime(opening, openTimeoutMs, () => {
      throw new Error(`no answer within ${openTimeoutMs / 1000} s`);
    });
    const url = listener.url();
    if (url === null) throw new Error('it has no address');
    return { url, close: () => listener.close() };
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).split('\n')[0];
    const remedy = 'Check NGROK_AUTHTOKEN and the network, or start without --tunnel.';
    throw new AppError('unavailable', `ngrok did not open a tunnel (${why}). ${remedy}`);
  }
}

/** What is public must ask everybody who they are: seen from outside, not assumed. */
async function requireAuth(address: string): Promise<void> {
  const { status } = await fetch(`${address}/api/sessions`);
  if (status === 401) return;
  throw new AppError(
    'forbidden',
    'This server requires no token, so it is not opened to a tunnel.',
  );
}

/** Only who asks for a tunnel needs the package, which is large and different on each platform. */
async function loadNgrok(): Promise<Ngrok> {
  const name = '@ngrok/ngrok';
  try {
    return (await import(name)) as Ngrok;
  } catch {
    const remedy = `Install it beside Belay: npm install --no-save ${name}`;
    throw new AppError('unavailable', `The tunnel needs the package ${name}. ${remedy}`);
  }
}
