import { isIP, type LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { isPublicAddress } from '@belay/host';
import { AppError, ignoreError } from '@belay/protocol';
import { Agent, ProxyAgent, request, type Dispatcher } from 'undici';
import { Config } from '../config.js';
import { hostProxy } from '../egress/dial.js';
import { normalHost } from '../egress/policy.js';
import { Resolver } from '../egress/resolver.js';
import { endedBy } from './ended-by.js';

/** How long a server may take to begin a response, and to pause within one. */
const silenceMs = 60_000;

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpCall {
  method: HttpMethod;
  headers: Record<string, string>;
  body?: Uint8Array | Readable;
  /** Whether the admin allowed this host to be in a private network. */
  isTrusted: boolean;
  /** Whether the admin allowed requests to this host without TLS. */
  isPlain?: boolean;
  signal: AbortSignal;
}

export interface GitResponse {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Readable;
}

/**
 * The server’s requests to git hosts. Private, loopback and reserved addresses, and HTTP without TLS, are refused
 * unless the admin configured the host. The connection uses the address that was checked; redirects are not followed
 * here. Errors name only the host, never headers.
 */
@Injectable()
export class GitHttp implements OnApplicationShutdown {
  readonly #open = new Set<Dispatcher>();

  constructor(
    private readonly config: Config,
    private readonly resolver: Resolver,
  ) {}

  async call(url: URL, { isTrusted, isPlain = false, ...call }: HttpCall): Promise<GitResponse> {
    const host = normalHost(url.hostname) ?? url.hostname;
    if (url.protocol !== 'https:' && !isPlain)
      throw new AppError(
        'invalid_input',
        `${host} is not used without TLS: use https, or have an admin add the host under Settings, Git hosts.`,
      );
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
    const proxy = hostProxy(this.config.environment, { host, port });
    const allowed = await this.#allowed(host, isTrusted);
    if (!proxy && allowed.length === 0)
      throw new AppError('unavailable', `There is no host ${host}. Check the name.`);
    const dispatcher = proxy ? proxied(proxy) : pinned(allowed);
    this.#open.add(dispatcher);
    const close = (): void => {
      this.#open.delete(dispatcher);
      void dispatcher.destroy().catch(ignoreError('nobody uses it any more'));
    };
    try {
      const answer = await request(url, { ...call, dispatcher });
      const { statusCode: status, headers, body } = answer;
      body.on('error', ignoreError('its reader gets it, and one that was dropped has none'));
      body.once('close', close);
      return { status, headers, body };
    } catch (error) {
      close();
      if (call.signal.aborted) throw endedBy(call.signal);
      throw error instanceof AppError ? error : unreachable(url.host, error);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.#open].map((dispatcher) => dispatcher.destroy()));
  }

  /** Addresses that may be connected to; empty for an unknown name. Throws `forbidden` when all are forbidden. */
  async #allowed(host: string, isTrusted: boolean): Promise<string[]> {
    const found = await this.resolver.addresses(host.replace(/^\[|\]$/g, ''));
    const open = isTrusted ? found : found.filter(isPublicAddress);
    if (open.length > 0 || found.length === 0) return open;
    throw new AppError(
      'forbidden',
      `${host} is in a private or reserved network: an admin may add it under Settings, Git hosts.`,
    );
  }
}

const timeouts = { headersTimeout: silenceMs, bodyTimeout: silenceMs };

/** Connects to the checked addresses, even if the name now resolves to others. */
function pinned(addresses: readonly string[]): Agent {
  const list = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_name, { all }, done) => {
    const [first] = list;
    if (all || !first) done(null, list);
    else done(null, first.address, first.family);
  };
  return new Agent({ ...timeouts, connect: { lookup, timeout: 20_000 } });
}

/** The host’s own proxy resolves the name, as it does for sandboxes. */
const proxied = ({ href }: URL): ProxyAgent => new ProxyAgent({ uri: href, ...timeouts });

function unreachable(host: string, error: unknown): AppError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code, message } = (cause ?? {}) as { code?: string; message?: string };
  if (code && /CERT|SELF_SIGNED|ISSUER|ALTNAME/.test(code))
    return new AppError(
      'unavailable',
      `The certificate of ${host} is not trusted (${code}). Start the server with NODE_EXTRA_CA_CERTS for one of your own.`,
    );
  if (code && /TIMEOUT/.test(code))
    return new AppError('timeout', `${host} did not respond in time. Try again later.`);
  return new AppError(
    'unavailable',
    `${host} cannot be reached: ${code ?? message ?? 'no answer'}.`,
  );
}
