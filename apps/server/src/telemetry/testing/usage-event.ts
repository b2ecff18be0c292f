import { newEvent } from '@belay/protocol';

/** The usage of one request to a model. */
export const usageEvent = (more: object = {}) =>
  newEvent('server', 'usage', {
    args: {
      model: 'anthropic:claude-x',
      inputTokens: 100,
      cachedTokens: 40,
      outputTokens: 10,
      dollars: 0.5,
      seconds: 0.25,
      contextTokens: 100,
      contextWindow: null,
      ...more,
    },
    message: '',
  });
