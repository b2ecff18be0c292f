import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError, ownValue } from '@belay/protocol';
import type { EgressTarget } from './policy.js';

const seconds = 20;

/**
 * Connects to the first address that answers. These are the addresses that were checked: no name is resolved again.
 */
export async function dialDirect(
  addresses: readonly string[],
  { host, port }: EgressTarget,
): Promise<Duplex> {
  let reason = 'no address';
  for (const address of addresses) {
    try {
      return await opened(connect({ host: address, port, allowHalfOpen: true }));
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  throw new AppError('unavailable', `${host}:${port} cannot be reached: ${reason}.`);
}

function opened(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    socket.setTimeout(seconds * 1000, () => fail(new Error(`no answer within ${seconds} s`)));
    socket.once('error', fail);
    socket.once('connect', () => {
      socket.setTimeout(0);
      socket.off('error', fail);
      resolve(socket);
    });
  });
}

/** Requests a tunnel from the host’s proxy, which resolves the name and applies its own policy. */
export function dialProxy(proxy: URL, { host, port }: EgressTarget): Promise<Duplex> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const ask = proxy.protocol === 'https:' ? secureRequest : request;
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void =>
      reject(new AppError('unavailable', `${host}:${port} cannot be reached: ${reason}.`));
    const tunnel = ask({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: authority,
      agent: false,
      timeout: seconds * 1000,
      headers: {
        host: authority,
        ...(proxy.username && {
          'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}`,
        }),
      },
    });
    tunnel.once('connect', (response, socket, head) => {
      if (response.statusCode !== 200) {
        socket.destroy();
        fail(`the host’s proxy answered ${response.statusCode}`);
        return;
      }
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    tunnel.once('response', (response) => {
      response.destroy();
      fail(`the host’s proxy answered ${response.statusCode}`);
    });
    tunnel.once('timeout', () => tunnel.destroy(new Error(`no answer within ${seconds} s`)));
    // The message contains the proxy’s address, which a sandbox must not learn.
    tunnel.once('error', (error: NodeJS.ErrnoException) =>
      fail(`the host’s proxy failed, ${error.code ?? error.message}`),
    );
    tunnel.end();
  });
}

/** The proxy that the host’s environment names for a target, if one. */
export function hostProxy(
  environment: Readonly<Record<string, string | undefined>>,
  { host, port }: EgressTarget,
): URL | null {
  const setting = (name: string): string =>
    ownValue(environment, name) || ownValue(environment, name.toUpperCase()) || '';
  const excluded = setting('no_proxy')
    .split(/[\s,]+/)
    .filter(Boolean);
  if (excluded.some((entry) => isExcluded(entry.toLowerCase(), host, port))) return null;
  const proxy = (port === 80 ? '' : setting('https_proxy')) || setting('http_proxy');
  if (!proxy) return null;
  const address = proxy.includes('://') ? proxy : `http://${proxy}`;
  return /^https?:/.test(address) && URL.canParse(address) ? new URL(address) : null;
}

function isExcluded(entry: string, host: string, port: number): boolean {
  if (entry === '*') return true;
  const [, name = '', wanted] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (wanted !== undefined && Number(wanted) !== port) return false;
  const domain = name.replace(/^\*?\./, '');
  return host === domain || host.endsWith(`.${domain}`);
}
