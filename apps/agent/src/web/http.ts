import { readFileSync } from 'node:fs';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { getCACertificates } from 'node:tls';
import { createBrotliDecompress, createUnzip, createZstdDecompress } from 'node:zlib';
import type { Readable } from 'node:stream';
import { AppError } from '@belay/protocol';
import { loopbackNames } from '../egress/loopback-names.js';

export interface HttpOptions {
  /** The proxy out of the sandbox; loopback is reached directly. Null if there is none. */
  proxy: string | null;
  /** The file with certificates that the sandbox trusts in addition to the usual ones. */
  certificates: string | null;
}

export interface HttpRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
}

export interface HttpResponse {
  url: string;
  status: number;
  type: string;
  bytes: Buffer;
  /** Whether the response was longer than `mostBytes`. */
  truncated: boolean;
}

const mostBytes = 10_000_000;
const mostRedirects = 10;
const loopback = ['localhost', '127.0.0.1', '::1', '[::1]', '*.localhost'];

export type Http = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>;

/** HTTP through the sandbox’s proxy, following redirects. Throws `rejected`, `unavailable`, `timeout`, `cancelled`. */
export function createHttp({ proxy, certificates }: HttpOptions): Http {
  const proxyEnv = proxy
    ? {
        HTTP_PROXY: proxy,
        HTTPS_PROXY: proxy,
        NO_PROXY: [...loopback, ...loopbackNames()].join(','),
      }
    : undefined;
  const plain = new HttpAgent({ proxyEnv });
  let secure: HttpsAgent | undefined;
  const agentFor = (url: URL) => {
    if (url.protocol === 'http:') return plain;
    const ca = certificates
      ? [...getCACertificates('default'), readFileSync(certificates, 'utf8')]
      : undefined;
    return (secure ??= new HttpsAgent({ proxyEnv, ca }));
  };
  return async (asked, signal) => {
    let request = asked;
    for (let hop = 0; hop <= mostRedirects; hop++) {
      const url = new URL(request.url);
      const response = await send(url, request, { agent: agentFor(url), signal });
      const next = redirect(request, response);
      if (!next) return collect(url, response, signal);
      response.destroy();
      request = next;
    }
    throw new AppError('unavailable', `${asked.url} redirects more than ${mostRedirects} times.`);
  };
}

function send(
  url: URL,
  { method, headers, body }: HttpRequest,
  options: { agent: HttpAgent; signal: AbortSignal },
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const request = open(url, { ...options, method, headers: { ...usual, ...headers } }, resolve);
  request.on('error', (error) => reject(failure(url, error, options.signal)));
  request.end(body);
  return promise;
}

const usual = {
  'user-agent': 'Mozilla/5.0 (compatible; Belay)',
  accept: 'text/html,application/xhtml+xml,application/json,text/*;q=0.9,*/*;q=0.8',
  'accept-encoding': 'gzip, deflate, br, zstd',
};

/** 303, and by custom also 301 and 302 after a POST, become a GET without a body. */
function redirect(
  request: HttpRequest,
  { statusCode = 0, headers }: IncomingMessage,
): HttpRequest | null {
  if (![301, 302, 303, 307, 308].includes(statusCode) || !headers.location) return null;
  const target = URL.parse(headers.location, request.url);
  if (!target || !/^https?:$/.test(target.protocol)) return null;
  const url = target.href;
  const keeps = statusCode === 307 || statusCode === 308 || request.method === 'HEAD';
  const same = target.origin === new URL(request.url).origin;
  const kept = same ? request.headers : withoutSecrets(request.headers);
  return keeps ? { ...request, url, headers: kept } : { url, method: 'GET', headers: kept };
}

const withoutSecrets = (headers: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(authorization|cookie)$/i.test(name)),
  );

async function collect(
  url: URL,
  response: IncomingMessage,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of decoded(response)) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size > mostBytes) break;
    }
  } catch (error) {
    throw failure(url, error, signal);
  } finally {
    // Without this, an unfinished decoder would keep the connection open.
    response.destroy();
  }
  return {
    url: url.href,
    status: response.statusCode ?? 0,
    type: response.headers['content-type'] ?? '',
    bytes: Buffer.concat(chunks).subarray(0, mostBytes),
    truncated: size > mostBytes,
  };
}

function decoded(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding'];
  const decoder =
    encoding === 'br'
      ? createBrotliDecompress()
      : encoding === 'zstd'
        ? createZstdDecompress()
        : encoding === 'gzip' || encoding === 'deflate'
          ? createUnzip()
          : null;
  if (!decoder) return response;
  response.on('error', (error) => decoder.destroy(error));
  return response.pipe(decoder);
}

function failure(url: URL, error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) {
    const timeout = (signal.reason as { name?: unknown } | null)?.name === 'TimeoutError';
    return timeout
      ? new AppError(
          'timeout',
          `${url.host} did not answer in time. Try again with a longer timeout.`,
        )
      : signal.reason;
  }
  const { code, message } = error as NodeJS.ErrnoException;
  // The message contains the sandbox proxy’s address, and no reason; the result’s note has the reason.
  if (code === 'ERR_PROXY_TUNNEL' || /proxy/i.test(message)) {
    return /\b403\b/.test(message)
      ? new AppError('rejected', `${url.host} is not allowed from this sandbox.`)
      : new AppError('unavailable', `${url.host} could not be reached from this sandbox.`);
  }
  return new AppError('unavailable', `${url.host} could not be reached: ${message}`);
}
