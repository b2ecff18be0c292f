import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isKnownProvider, type KnownProvider, type ModelChoice } from '@belay/protocol';
import { exampleScript, providerRemedy } from './open-model.js';
import type { ModelSetup } from './provider-keys.js';
import { providerModels } from './provider-models.js';
import { readScript } from './scripted/script.js';

/** Only a selection: users can name any model of a provider. */
const known: readonly (readonly [KnownProvider, model: string, title: string])[] = [
  ['anthropic', 'claude-opus-5-5', 'Claude Opus 5.5'],
  ['anthropic', 'claude-sonnet-5-5', 'Claude Sonnet 5.5'],
  ['anthropic', 'claude-haiku-5-5', 'Claude Haiku 5.5'],
  ['openai', 'gpt-6.1-sol', 'GPT-6.1 Sol'],
  ['openai', 'gpt-5.5', 'GPT-5.5'],
  ['openai', 'gpt-5-mini', 'GPT-5 mini'],
  ['google', 'gemini-3.1-pro-preview', 'Gemini 3.1 Pro'],
  ['google', 'gemini-2.5-flash', 'Gemini 2.5 Flash'],
];

const maxModelsPerServer = 100;

/** Models that can be called now come first, then the demos. */
export async function modelChoices(config: ModelSetup): Promise<ModelChoice[]> {
  const servers = Object.keys(config.providers).filter(
    (name) => !isKnownProvider(name) && providerRemedy(name, config) === null,
  );
  const served = await Promise.all(servers.map((name) => modelsOfServer(name, config)));
  const offered = [...known, ...served.flat()].map(([provider, model, title]): ModelChoice => {
    const remedy = providerRemedy(provider, config);
    return { name: `${provider}:${model}`, title, ready: remedy === null, remedy };
  });
  const ready = offered.filter((choice) => choice.ready);
  const others = offered.filter((choice) => !choice.ready);
  return [...ready, ...(await demos(config)), ...others];
}

/** None if the server does not answer: `check` and the first call report that. */
async function modelsOfServer(server: string, config: ModelSetup) {
  const timeoutMs = config.listTimeoutMs;
  const models = await providerModels(server, config, { timeoutMs }).catch(() => []);
  return models.slice(0, maxModelsPerServer).map(({ id }) => [server, id, id] as const);
}

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
