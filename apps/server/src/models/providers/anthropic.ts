import { createAnthropic } from '@ai-sdk/anthropic';
import type { OpenProvider } from './sdk-provider.js';

export const openAnthropic: OpenProvider = (model, { config, fetch }) => {
  const { key, url } = config.providers.anthropic;
  const provider = createAnthropic({ apiKey: key ?? '', fetch, ...(url && { baseURL: url }) });
  return {
    name: 'anthropic',
    model: provider.languageModel(model),
    listOfMessages: 'messages',
    picturesInResults: true,
    cacheMark: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  };
};
