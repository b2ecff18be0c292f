import type { ModelSetup } from './provider-keys.js';
import { providerModels } from './provider-models.js';

const listTimeoutMs = 1_000;

/** Returns a model’s window in tokens as its own server names it, null if it does not; it is asked until it answers. */
export function servedWindow(
  provider: string,
  model: string,
  config: ModelSetup,
): () => Promise<number | null> {
  let known: number | null | undefined;
  return async () => {
    if (known !== undefined) return known;
    // A missing server is not an error here: the call of the model reports it.
    const listed = await providerModels(provider, config, { timeoutMs: listTimeoutMs }).catch(
      () => undefined,
    );
    if (listed) known = listed.find(({ id }) => id === model)?.window ?? null;
    return known ?? null;
  };
}
