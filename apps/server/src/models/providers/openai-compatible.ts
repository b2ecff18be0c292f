import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { AppError, ownValue } from '@belay/protocol';
import type { OpenProvider } from './sdk-provider.js';

/** The chat completions of Ollama, vLLM, LM Studio, OpenRouter and many others. */
export const openOpenAICompatible: OpenProvider = (model, { provider: name, config, fetch }) => {
  const { key, url } = ownValue(config.providers, name) ?? {};
  if (!url) {
    throw new AppError('conflict', `${name} has no address. Set it under Settings → Models.`);
  }
  const provider = createOpenAICompatible({
    name,
    baseURL: url,
    fetch,
    includeUsage: true,
    ...(key && { apiKey: key }),
  });
  return {
    name,
    model: provider.languageModel(model),
    listOfMessages: 'messages',
    picturesInResults: false,
  };
};
