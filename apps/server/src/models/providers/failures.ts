import { AppError, ownValue } from '@belay/protocol';
import { z } from 'zod';
import { ModelFailure } from '../model.js';

/** The common fields of the SDK's errors and of errors within a provider's stream. */
const providerError = z.object({
  message: z.string().catch('no reason was given'),
  statusCode: z.number().optional().catch(undefined),
  isRetryable: z.boolean().optional().catch(undefined),
  responseHeaders: z.record(z.string(), z.string()).optional().catch(undefined),
  responseBody: z.string().optional().catch(undefined),
  type: z.string().optional().catch(undefined),
  code: z.union([z.string(), z.number()]).nullish().catch(undefined),
});
type ProviderError = z.infer<typeof providerError>;

/**
 * Providers have no common status for a prompt that is too long, so this matches OpenAI's code and the sentences of
 * Anthropic, Google, vLLM, llama.cpp, Ollama and OpenRouter.
 */
const overflow =
  /context_length_exceeded|exceed_context_size|prompt is too long|input is too long|exceeds? the (maximum|available|model'?s?) (number of tokens|context)|maximum context length|context (window|length|limit|size)|input length and .max_tokens. exceed/i;

const noCredit = /insufficient_quota|credit balance is too low|billing_hard_limit/i;

const keyVariables: Record<string, string> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  'openai-compatible': 'OPENAI_COMPATIBLE_API_KEY',
};

/**
 * Classifies the error of a call. `secret` is removed from every sentence, because providers repeat keys in their
 * errors.
 */
export function failureOf(
  error: unknown,
  at: { provider: string; model: string; secret?: string | undefined },
): ModelFailure | AppError {
  if (error instanceof ModelFailure || error instanceof AppError) return error;
  const read = providerError.safeParse(typeof error === 'string' ? { message: error } : error);
  const known: ProviderError = read.success ? read.data : { message: String(error) };
  if (known.statusCode !== undefined && known.statusCode < 400) {
    return new ModelFailure('retry', brokenOff(at.provider));
  }
  const reason = sentence(known, at.secret);
  const status = statusOf(known);
  const body = `${known.message} ${known.code ?? ''} ${known.responseBody ?? ''}`;
  const cause = causeOf({ ...at, status, body, reason });
  if (cause) return cause;
  const answered = status === undefined ? 'failed' : `answered ${status}`;
  const kind = isPassing(status, known.isRetryable) ? 'retry' : 'fatal';
  return new ModelFailure(kind, `${at.provider} ${answered}: ${reason}`, retryAfter(known));
}

interface FailedCall {
  provider: string;
  model: string;
  status: number | undefined;
  /** The provider's whole response, for searching. */
  body: string;
  /** The provider’s own sentence. */
  reason: string;
}

/** A failure that another attempt would not solve; undefined for others. */
function causeOf({ provider, model, status, body, reason }: FailedCall): ModelFailure | undefined {
  const fatal = (message: string): ModelFailure => new ModelFailure('fatal', message);
  if (status === 401 || body.includes('API_KEY_INVALID')) {
    const variable = ownValue(keyVariables, provider);
    const place = `Settings → Models${variable ? `, or ${variable}` : ''}`;
    return fatal(`${provider} refused the key: check it under ${place}.`);
  }
  if (status === 413 || (!isServerSide(status) && overflow.test(body))) {
    return new ModelFailure('overflow', `The conversation is too long for ${model}: ${reason}`);
  }
  if (status === 402 || noCredit.test(body))
    return fatal(`The account at ${provider} has no credit left: ${reason}`);
  if (status === 403)
    return fatal(
      `${provider} does not let this key use ${model}: ${reason} Check the key’s permissions.`,
    );
  if (status === 404)
    return fatal(`${provider} has no ${model}: ${reason} Check the model’s name and the address.`);
  return undefined;
}

export const brokenOff = (provider: string): string => `The reply of ${provider} was cut off.`;

/** A failure without a status is one of the connection. */
function isPassing(status: number | undefined, retryable: boolean | undefined): boolean {
  if (status === undefined) return retryable ?? true;
  return status === 408 || status === 409 || status === 425 || status === 429 || status >= 500;
}

const isServerSide = (status: number | undefined): boolean =>
  status !== undefined && (status === 429 || status >= 500);

/** Errors within a stream have no status; their type or code has the same meaning. */
function statusOf({ statusCode, type, code }: ProviderError): number | undefined {
  if (statusCode !== undefined) return statusCode;
  if (typeof code === 'number' && code >= 400) return code;
  const name = `${type ?? ''} ${code ?? ''}`;
  if (/rate_limit/.test(name)) return 429;
  if (/overloaded|server_error|api_error/.test(name)) return 500;
  if (/invalid_request|invalid_prompt/.test(name)) return 400;
  return undefined;
}

/** Seconds, from `retry-after-ms`, `retry-after` (seconds or a date), or Google's `retryDelay`. */
function retryAfter({ responseHeaders = {}, responseBody = '' }: ProviderError) {
  const milliseconds = Number(responseHeaders['retry-after-ms']);
  if (milliseconds > 0) return milliseconds / 1000;
  const header = responseHeaders['retry-after'];
  if (header) {
    const seconds = /^[\d.]+$/.test(header)
      ? Number(header)
      : (Date.parse(header) - Date.now()) / 1000;
    if (Number.isFinite(seconds)) return Math.max(0, seconds);
  }
  const delay = /"retryDelay":\s*"([\d.]+)s"/.exec(responseBody)?.[1];
  return delay === undefined ? undefined : Number(delay);
}

function sentence(error: ProviderError, secret: string | undefined): string {
  const message = messageIn(error.responseBody) ?? error.message;
  const clean = secret ? message.replaceAll(secret, '…') : message;
  const line = clean.replace(/\s+/g, ' ').trim().slice(0, 500);
  return /[.!?]$/.test(line) ? line : `${line}.`;
}

const errorBody = z.union([
  z
    .object({ error: z.object({ message: z.string().min(1) }) })
    .transform(({ error }) => error.message),
  z.object({ error: z.string().min(1) }).transform(({ error }) => error),
  z.object({ message: z.string().min(1) }).transform(({ message }) => message),
]);

/** The error formats of the four providers and of similar ones; for these, the SDK reports the status. */
function messageIn(body: string | undefined): string | undefined {
  try {
    return errorBody.safeParse(JSON.parse(body ?? '')).data;
  } catch {
    return undefined;
  }
}
