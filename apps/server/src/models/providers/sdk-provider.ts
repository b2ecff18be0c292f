import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { ProviderName } from '@belay/protocol';
import type { ModelSetup } from '../provider-keys.js';

/** What differs from provider to provider; the rest is `sdk-model.ts`. */
export interface SdkProvider {
  readonly name: ProviderName;
  readonly model: LanguageModelV4;
  /** The field of a request that holds the messages. */
  readonly listOfMessages: 'messages' | 'input' | 'contents';
  /** Whether a tool's result may hold pictures; else they follow as a message of the user. */
  readonly picturesInResults: boolean;
  /** Options of every call. */
  options?(session: string): SharedV4ProviderOptions;
  /** Marks a message up to which the provider shall cache the prompt. */
  readonly cacheMark?: SharedV4ProviderOptions;
}

export interface ProviderContext {
  config: ModelSetup;
  fetch: typeof globalThis.fetch;
}

export type OpenProvider = (model: string, context: ProviderContext) => SdkProvider;
