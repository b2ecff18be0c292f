import { createGoogle } from '@ai-sdk/google';
import type { OpenProvider } from './sdk-provider.js';

/** Gemini caches prompt prefixes by itself. */
export const openGoogle: OpenProvider = (model, { config, fetch }) => {
  const { key, url } = config.providers.google;
  const provider = createGoogle({ apiKey: key ?? '', fetch, ...(url && { baseURL: url }) });
  return {
    name: 'google',
    model: provider.languageModel(model),
    listOfMessages: 'contents',
    picturesInResults: true,
    // Models before 2.5 have no reasoning and refuse requests for it.
    ...(!/^gemini-(1|2\.0)/.test(model) && {
      options: () => ({ google: { thinkingConfig: { includeThoughts: true } } }),
    }),
  };
};
