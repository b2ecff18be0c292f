import { createOpenAI } from '@ai-sdk/openai';
import type { OpenProvider } from './sdk-provider.js';

/** The Responses API. Nothing is stored at the provider: reasoning comes encrypted and goes back with the next call. */
export const openOpenAI: OpenProvider = (model, { config, fetch }) => {
  const { key, url } = config.providers.openai;
  const provider = createOpenAI({ apiKey: key ?? '', fetch, ...(url && { baseURL: url }) });
  return {
    name: 'openai',
    model: provider.responses(model),
    listOfMessages: 'input',
    picturesInResults: true,
    // Routes prompts of a session to the machine that has their prefix cached.
    options: (session) => ({ openai: { store: false, promptCacheKey: session } }),
  };
};
