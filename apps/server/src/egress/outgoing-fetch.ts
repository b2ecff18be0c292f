import { EnvHttpProxyAgent, fetch as undiciFetch } from 'undici';

type Environment = Readonly<Record<string, string | undefined>>;

/** A local model may read a long prompt for minutes before its first token. */
const firstByteMilliseconds = 15 * 60_000;
const silenceMilliseconds = 5 * 60_000;

const made = new WeakMap<Environment, typeof globalThis.fetch>();

/** `fetch` through the proxy that the host’s environment names, if any; each environment has one connection pool. */
export function outgoingFetch(environment: Environment): typeof globalThis.fetch {
  const known = made.get(environment);
  if (known) return known;
  const setting = (name: string): string =>
    environment[name] || environment[name.toUpperCase()] || '';
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: setting('http_proxy'),
    httpsProxy: setting('https_proxy') || setting('http_proxy'),
    noProxy: setting('no_proxy') || 'localhost,127.0.0.1,::1',
    headersTimeout: firstByteMilliseconds,
    bodyTimeout: silenceMilliseconds,
  });
  const outgoing = (input: string, init: object) => undiciFetch(input, { ...init, dispatcher });
  // Two declarations of the same standard function, which differ only in types.
  const typed = outgoing as unknown as typeof globalThis.fetch;
  made.set(environment, typed);
  return typed;
}
