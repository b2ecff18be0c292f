import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelChoice, ProviderName } from '@belay/protocol';
import { exampleScript, providerRemedy } from './open-model.js';
import type { ModelSetup } from './provider-keys.js';
import { readScript } from './scripted/script.js';

/** Only a selection: users can name any model of a provider. */
const known: readonly (readonly [ProviderName, model: string, title: string])[] = [
  ['anthropic', 'claude-opus-5-5', 'Claude Opus 5.5'],
  ['anthropic', 'claude-sonnet-5-5', 'Claude Sonnet 5.5'],
  ['anthropic', 'claude-haiku-5-5', 'Claude Haiku 5.5'],
  ['openai', 'gpt-6.1-sol', 'GPT-6.1 Sol'],
  ['openai', 'gpt-5.5', 'GPT-5.5'],
  ['openai', 'gpt-5-mini', 'GPT-5 mini'],
  ['google', 'gemini-3.1-pro-preview', 'Gemini 3.1 Pro'],
  ['google', 'gemini-2.5-flash', 'Gemini 2.5 Flash'],
];

/** Models that can be called now come first, then the demos. */
export async function modelChoices(
  config: ModelSetup,
  localModels: () => Promise<string[]>,
): Promise<ModelChoice[]> {
  const local = (await localModels()).map((model) => ['openai-compatible', model, model] as const);
  const offered = [...known, ...local].map(([provider, model, title]): ModelChoice => {
    const remedy = providerRemedy(provider, config);
    return { name: `${provider}:${model}`, title, ready: remedy === null, remedy };
  });
  const ready = offered.filter((choice) => choice.ready);
  const others = offered.filter((choice) => !choice.ready);
  return [...ready, ...(await demos(config)), ...others];
}

/** A script or a recording plays its own task, whatever the user writes. */
export const isPlayedModel = (name: string): boolean => /^(scripted|cassette):/.test(name);

async function demos(config: ModelSetup): Promise<ModelChoice[]> {
  if (config.examples === undefined) return [];
  const folder = join(config.examples, 'sessions');
  const names = await readdir(folder).catch(() => []);
  const choices = await Promise.all(
    names
      .toSorted((a, b) => a.localeCompare(b))
      .map(async (name): Promise<ModelChoice | null> => {
        try {
          const { title } = await readScript(exampleScript(name, config));
          return {
            name: `scripted:example:${name}`,
            title: title ?? `Demo: ${name}`,
            ready: true,
            remedy: null,
          };
        } catch {
          // A folder without a playable script is left out.
          return null;
        }
      }),
  );
  return choices.filter((choice) => choice !== null);
}
