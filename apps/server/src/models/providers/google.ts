import { createGoogle } from '@ai-sdk/google';
import type { OpenProvider } from './sdk-provider.js';

/** Gemini caches the beginnings of prompts by itself. */
export const openGoogle: OpenProvider = (model, { config, fetch }) => {
  const { key, url } = config.providers.google;
  const provider = createGoogle({ apiKey: key ?? '', fetch, ...(url && { baseURL: url }) });
  return {
    name: 'google',
    model: provider.languageModel(model),
    listOfMessages: 'contents',
    picturesInResults: true,
    // Models before 2.5 do not think and refuse to be asked for it.
    ...(!/^gemini-(1|2\.0)/.test(model) && {
      options: () => ({ google: { thinkingConfig: { includeThoughts: true } } }),
    }),
  };
};
