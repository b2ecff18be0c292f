/** How a provider is reached; a provider without a key is not ready, except one that needs none. */
export interface ProviderSettings {
  key?: string;
  url?: string;
}

export type ProviderName = 'openai' | 'anthropic' | 'google' | 'openai-compatible';

/** What the models room needs of the server's configuration. */
export abstract class ModelSettings {
  abstract readonly providers: Record<ProviderName, ProviderSettings>;
  /** Folder of the examples, for `scripted:example:NAME`. */
  abstract readonly examples: string | null;
  /** Address of a SearXNG-style search service. */
  abstract readonly searchUrl: string | null;
}
