import { join } from 'node:path';
import { AppError, isKnownProvider, type KnownProvider, ownValue } from '@belay/protocol';
import { recordingModel, replayingModel } from './cassette/cassette-model.js';
import type { Model } from './model.js';
import { parseModelName, unknownModel, type ModelAddress } from './model-name.js';
import { outgoingFetch } from '../egress/outgoing-fetch.js';
import { priceOf } from './prices.js';
import type { ModelSetup } from './provider-keys.js';
import { openAnthropic } from './providers/anthropic.js';
import { openGoogle } from './providers/google.js';
import { openOpenAICompatible } from './providers/openai-compatible.js';
import { openOpenAI } from './providers/openai.js';
import { sdkModel } from './providers/sdk-model.js';
import type { OpenProvider } from './providers/sdk-provider.js';
import { PromptWriter } from './providers/prompt-writer.js';
import { servedWindow } from './served-window.js';
import { scriptedModel } from './scripted/scripted-model.js';
import { tagModel } from './tags/tag-model.js';

const providers: Record<KnownProvider, OpenProvider> = {
  openai: openOpenAI,
  anthropic: openAnthropic,
  google: openGoogle,
};

/** Opens a model by its name. Throws one sentence. Files are not checked here, but read when they are needed. */
export function openModel(name: string, config: ModelSetup): Model {
  const address = parseModelName(name);
  if (address.kind === 'example')
    return scriptedModel(exampleScript(address.name, config), `example:${address.name}`);
  if (address.kind === 'scripted') return scriptedModel(address.file);
  if (address.kind === 'provider') return providerModel(address, config);
  if (address.record === null) return replayingModel(address.file);
  return recordingModel(address.file, openModel(address.record, config));
}

/** The path of an example’s script. */
export function exampleScript(example: string, config: ModelSetup): string {
  if (config.examples === undefined) {
    throw new AppError('not_found', 'No examples are installed. Set BELAY_EXAMPLES.');
  }
  return join(config.examples, 'sessions', example, 'script.yaml');
}

/** What to do before the provider can be called; null if nothing is missing. */
export function providerRemedy(provider: string, config: ModelSetup): string | null {
  if (!isKnownProvider(provider)) {
    return ownValue(config.providers, provider)?.url
      ? null
      : 'Set its address under Settings → Models, or OPENAI_COMPATIBLE_BASE_URL (for Ollama http://127.0.0.1:11434/v1) for the server.';
  }
  const variable = {
    openai: 'OPENAI_API_KEY',
    anthropic: 'ANTHROPIC_API_KEY',
    google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  }[provider];
  return config.providers[provider].key
    ? null
    : `Set its key under Settings → Models, or ${variable} for the server.`;
}

/** The model’s window in tokens: as the user says, as published, or as its own server says. */
function windowOf(
  { provider, model, options }: Pick<ProviderAddress, 'provider' | 'model' | 'options'>,
  config: ModelSetup,
): () => Promise<number | null> {
  const known = options.context ?? priceOf(provider, model)?.window ?? null;
  if (known === null && !isKnownProvider(provider)) return servedWindow(provider, model, config);
  return async () => known;
}

type ProviderAddress = Extract<ModelAddress, { kind: 'provider' }>;

function providerModel({ provider, model, options }: ProviderAddress, config: ModelSetup): Model {
  if (!ownValue(config.providers, provider))
    throw unknownModel(`${provider}:${model}`, Object.keys(config.providers));
  const remedy = providerRemedy(provider, config);
  if (remedy) throw new AppError('conflict', `${provider} is not set up. ${remedy}`);
  const writer = new PromptWriter(outgoingFetch(config.environment));
  const open = isKnownProvider(provider) ? providers[provider] : openOpenAICompatible;
  const from = { provider: open(model, { provider, config, fetch: writer.fetch }), writer };
  const opened = sdkModel(from, {
    contextTokens: windowOf({ provider, model, options }, config),
    options,
    secret: config.providers[provider]?.key,
  });
  return options.tools === 'tags' ? tagModel(opened) : opened;
}
