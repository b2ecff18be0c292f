import { isKnownProvider, ownValue, type KnownProvider } from '@belay/protocol';
import type { ModelSetup } from './provider-keys.js';

/** The address of a provider’s API, and the headers that carry its key. */
export interface ProviderApi {
  /** With the version, without a slash at the end. */
  url: string;
  headers: Record<string, string>;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const apis: Record<KnownProvider, { url: string; headers(key: string): Record<string, string> }> = {
  openai: { url: 'https://api.openai.com/v1', headers: bearer },
  anthropic: {
    url: 'https://api.anthropic.com/v1',
    headers: (key) => ({ 'x-api-key': key }),
  },
  google: {
    url: 'https://generativelanguage.googleapis.com/v1beta',
    headers: (key) => ({ 'x-goog-api-key': key }),
  },
};

/** How a provider is reached with these settings; the address of an unknown one is empty. */
export function providerApi(
  provider: string,
  { providers }: Pick<ModelSetup, 'providers'>,
): ProviderApi {
  const known = isKnownProvider(provider) ? apis[provider] : undefined;
  const { key, url } = ownValue(providers, provider) ?? {};
  return {
    url: (url ?? known?.url ?? '').replace(/\/+$/, ''),
    headers: key ? (known?.headers ?? bearer)(key) : {},
  };
}
