import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { AppError } from '@belay/protocol';
import type { OpenProvider } from './sdk-provider.js';

/** The chat completions of Ollama, vLLM, LM Studio, OpenRouter and many others. */
export const openOpenAICompatible: OpenProvider = (model, { config, fetch }) => {
  const { key, url } = config.providers['openai-compatible'];
  if (!url) {
    throw new AppError('conflict', 'Set OPENAI_COMPATIBLE_BASE_URL, then start again.');
  }
  const provider = createOpenAICompatible({
    name: 'openai-compatible',
    baseURL: url,
    fetch,
    includeUsage: true,
    ...(key && { apiKey: key }),
  });
  return {
    name: 'openai-compatible',
    model: provider.languageModel(model),
    listOfMessages: 'messages',
    picturesInResults: false,
  };
};
