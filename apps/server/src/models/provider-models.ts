import { AppError, isKnownProvider } from '@belay/protocol';
import { z } from 'zod';
import { outgoingFetch } from '../egress/outgoing-fetch.js';
import { providerApi } from './provider-apis.js';
import type { ModelSetup } from './provider-keys.js';

/** A model that a provider lists, with its window in tokens if the list names it. */
export interface ListedModel {
  id: string;
  window: number | null;
}

const tokens = z.int().positive().optional().catch(undefined);

/** The names under which servers give a model’s window: vLLM, OpenRouter, Groq, LM Studio. */
const listedModel = z
  .object({
    id: z.string(),
    max_model_len: tokens,
    context_length: tokens,
    context_window: tokens,
    loaded_context_length: tokens,
    max_context_length: tokens,
  })
  .transform(({ id, ...sizes }): ListedModel => ({
    id,
    window:
      sizes.max_model_len ??
      sizes.context_length ??
      sizes.context_window ??
      sizes.loaded_context_length ??
      sizes.max_context_length ??
      null,
  }));

const modelList = z.union([
  z.object({ data: z.array(listedModel) }).transform(({ data }) => data),
  // Google’s names begin with `models/`.
  z
    .object({ models: z.array(z.object({ name: z.string() })) })
    .transform(({ models }): ListedModel[] =>
      models.map(({ name }) => ({ id: name.replace(/^models\//, ''), window: null })),
    ),
]);

/** The server answered that it gives no list with these settings: asking again would not help. */
export class NoModelList extends AppError {
  constructor(message: string) {
    super('model_failed', message);
  }
}

/**
 * The models that a provider lists with these settings. Throws `model_failed` with what was tried and seen, never with
 * the key.
 */
export async function providerModels(
  provider: string,
  setup: ModelSetup,
  { timeoutMs }: { timeoutMs: number },
): Promise<ListedModel[]> {
  const api = providerApi(provider, setup);
  const url = `${api.url}/models`;
  const unanswered = (error: unknown): never => {
    throw failed(
      `${url} does not answer (${reasonOf(error, timeoutMs)}). Check the address, and that the server runs.`,
    );
  };
  const response = await outgoingFetch(setup.environment)(url, {
    headers: {
      ...api.headers,
      ...(provider === 'anthropic' && { 'anthropic-version': '2023-06-01' }),
    },
    // Another host must not get the key.
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(unanswered);
  if (!response.ok) throw refusal(provider, url, response.status);
  const body: unknown = await response
    .json()
    .catch((error: unknown) => (error instanceof SyntaxError ? undefined : unanswered(error)));
  const models = modelList.safeParse(body);
  if (!models.success)
    throw new NoModelList(`${url} did not answer with a list of models. Check the address.`);
  return models.data;
}

function refusal(provider: string, url: string, status: number): AppError {
  if (status === 401 || status === 403)
    return new NoModelList(
      `${provider} refused the key: ${url} answered ${status}. Check the key.`,
    );
  const hint =
    isKnownProvider(provider) || /\/v\d+\/models$/.test(url)
      ? 'Check the address.'
      : 'Check the address: those of most servers end with /v1.';
  const message = `${url} answered ${status}. ${hint}`;
  return isTemporary(status) ? failed(message) : new NoModelList(message);
}

const isTemporary = (status: number): boolean => status >= 500 || status === 408 || status === 429;

const failed = (message: string): AppError => new AppError('model_failed', message);

function reasonOf(error: unknown, timeoutMs: number): string {
  const { name, cause, message } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return `no answer within ${timeoutMs / 1_000} s`;
  return cause?.code ?? cause?.message ?? message;
}
