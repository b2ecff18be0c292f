import { z } from 'zod';
import { outgoingFetch } from '../egress/outgoing-fetch.js';
import type { ModelSetup } from './provider-keys.js';

const tokens = z.int().positive().optional().catch(undefined);

/** The names under which servers give a model’s window: vLLM, OpenRouter, Groq, LM Studio. */
const modelList = z.object({
  data: z.array(
    z
      .object({
        id: z.string(),
        max_model_len: tokens,
        context_length: tokens,
        context_window: tokens,
        loaded_context_length: tokens,
        max_context_length: tokens,
      })
      .transform(({ id, ...sizes }) => ({
        id,
        window:
          sizes.max_model_len ??
          sizes.context_length ??
          sizes.context_window ??
          sizes.loaded_context_length ??
          sizes.max_context_length ??
          null,
      })),
  ),
});

/** The models of the OpenAI-compatible server; none when it does not answer within a second. */
export async function localModels(config: ModelSetup): Promise<string[]> {
  const served = await servedModels(config);
  return (served ?? []).slice(0, 100).map(({ id }) => id);
}

/** Returns a model’s window in tokens as its server names it, null if it does not; a server is asked until it answers. */
export function localWindow(config: ModelSetup, model: string): () => Promise<number | null> {
  let known: number | null | undefined;
  return async () => {
    if (known !== undefined) return known;
    const served = await servedModels(config);
    if (served) known = served.find(({ id }) => id === model)?.window ?? null;
    return known ?? null;
  };
}

async function servedModels(config: ModelSetup) {
  const { key, url } = config.providers['openai-compatible'];
  if (!url) return null;
  try {
    const response = await outgoingFetch(config.environment)(`${url.replace(/\/$/, '')}/models`, {
      headers: key ? { authorization: `Bearer ${key}` } : {},
      signal: AbortSignal.timeout(1_000),
    });
    const list = modelList.safeParse(await response.json().catch(() => null));
    return list.success ? list.data.data : [];
  } catch {
    // A missing server is not an error here: `check` and the first call report it.
    return null;
  }
}
