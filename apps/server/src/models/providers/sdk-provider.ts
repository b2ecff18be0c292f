import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { ModelSetup } from '../provider-keys.js';

/** The differences between providers; the rest is in `sdk-model.ts`. */
export interface SdkProvider {
  readonly name: string;
  readonly model: LanguageModelV4;
  /** The field of a request that contains the messages. */
  readonly listOfMessages: 'messages' | 'input' | 'contents';
  /** Whether a tool's result may contain pictures; otherwise they follow as a user's message. */
  readonly picturesInResults: boolean;
  /** Options of every call. */
  options?(session: string): SharedV4ProviderOptions;
  /** Marks a message up to which the provider is to cache the prompt. */
  readonly cacheMark?: SharedV4ProviderOptions;
}

export interface ProviderContext {
  /** The provider’s name in the settings. */
  provider: string;
  config: ModelSetup;
  fetch: typeof globalThis.fetch;
}

export type OpenProvider = (model: string, context: ProviderContext) => SdkProvider;
