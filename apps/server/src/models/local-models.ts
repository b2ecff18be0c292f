import { z } from 'zod';
import { outgoingFetch } from '../egress/outgoing-fetch.js';
import type { ModelSetup } from './provider-keys.js';

const modelList = z.object({ data: z.array(z.object({ id: z.string() })) });

/** The models of the OpenAI-compatible server; none when it does not answer within a second. */
export async function localModels(config: ModelSetup): Promise<string[]> {
  const { key, url } = config.providers['openai-compatible'];
  if (!url) return [];
  try {
    const response = await outgoingFetch(config.environment)(`${url.replace(/\/$/, '')}/models`, {
      headers: key ? { authorization: `Bearer ${key}` } : {},
      signal: AbortSignal.timeout(1_000),
    });
    const { data } = modelList.parse(await response.json());
    return data.slice(0, 100).map(({ id }) => id);
  } catch {
    // A missing server is not an error here: `check` and the first call report it.
    return [];
  }
}
