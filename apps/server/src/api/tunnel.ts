import { AppError } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import type { Config } from '../config.js';

export interface Tunnel {
  /** The public address, with TLS. */
  url: string;
  close(): Promise<void>;
}

/** The used part of ngrok’s package. */
interface Ngrok {
  forward(options: { addr: string; authtoken: string }): Promise<{
    url(): string | null;
    close(): Promise<void>;
  }>;
}

const openTimeoutMs = 30_000;

/**
 * Opens the configured tunnel to this server’s address; does nothing without one. Throws one sentence: no token, no
 * package, no network, or a server without authentication.
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

/** A public server must authenticate everybody, which is tested from outside. */
async function requireAuth(address: string): Promise<void> {
  const { status } = await fetch(`${address}/api/sessions`);
  if (status === 401) return;
  throw new AppError(
    'forbidden',
    'This server requires no token, so it is not opened to a tunnel.',
  );
}

/** The package is large and differs by platform, so only those who use a tunnel install it. */
async function loadNgrok(): Promise<Ngrok> {
  const name = '@ngrok/ngrok';
  try {
    return (await import(name)) as Ngrok;
  } catch {
    const remedy = `Install it beside Belay: npm install --no-save ${name}`;
    throw new AppError('unavailable', `The tunnel needs the package ${name}. ${remedy}`);
  }
}
