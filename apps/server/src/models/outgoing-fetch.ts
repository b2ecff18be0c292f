import { EnvHttpProxyAgent, fetch as undiciFetch } from 'undici';

/** `fetch` by way of the proxy that the host's environment names, if it names one. */
export function outgoingFetch(environment: Readonly<Record<string, string | undefined>>) {
  const setting = (name: string): string | undefined =>
    environment[name.toLowerCase()] || environment[name.toUpperCase()] || undefined;
  const httpProxy = setting('http_proxy');
  const httpsProxy = setting('https_proxy');
  if (!httpProxy && !httpsProxy) return globalThis.fetch;
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: httpProxy ?? '',
    httpsProxy: httpsProxy ?? '',
    noProxy: setting('no_proxy') ?? 'localhost,127.0.0.1,::1',
  });
  // The two declarations of one standard function differ in types alone.
  const viaProxy = (input: string, init: object) => undiciFetch(input, { ...init, dispatcher });
  return viaProxy as unknown as typeof globalThis.fetch;
}
