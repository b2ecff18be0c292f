import type { ModelSetup } from './provider-keys.js';
import { NoModelList, providerModels } from './provider-models.js';

/**
 * Returns a model’s window in tokens as its own server names it; null if it does not. The server is asked until it
 * answers, with a list or that it has none. Never rejects.
 */
export function servedWindow(
  provider: string,
  model: string,
  config: ModelSetup,
): () => Promise<number | null> {
  let known: number | null | undefined;
  return async () => {
    if (known !== undefined) return known;
    try {
      const listed = await providerModels(provider, config, { timeoutMs: config.listTimeoutMs });
      known = listed.find(({ id }) => id === model)?.window ?? null;
    } catch (error) {
      // A missing server is not an error here: the call of the model reports it.
      if (error instanceof NoModelList) known = null;
    }
    return known ?? null;
  };
}
