import { isPlayedModel, knownProviders, type ModelChoice } from '@belay/protocol';
import { nearest } from '@/lib/nearest';

export interface ModelFault {
  text: string;
  /** What the user may have meant. */
  meant: string | undefined;
}

/**
 * What is wrong with a typed name of a model; undefined for nothing. A provider may have models
 * that are not listed, so any name after its own is accepted.
 */
export function modelFault(
  name: string,
  choices: readonly ModelChoice[],
  providers: readonly string[],
): ModelFault | undefined {
  if (isPlayedModel(name)) return undefined;
  const ready = choices.filter((choice) => choice.ready).map((choice) => choice.name);
  const [, provider, model] = /^([^:]*):(.*)$/s.exec(name) ?? [];
  if (provider === undefined || !model || !providers.includes(provider)) {
    const text = `There is no model “${name}”. Write provider:model with one of ${providers.join(', ')}.`;
    return { text, meant: nearest(name, ready) };
  }
  const offered = choices.filter((choice) => choice.name.startsWith(`${provider}:`));
  const [closed] = offered;
  if (!closed || offered.some((choice) => choice.ready)) return undefined;
  return { text: `${provider} is not set up. ${closed.remedy ?? ''}`.trim(), meant: undefined };
}

/** The providers that a name of a model may begin with. */
export const providersOf = (
  choices: readonly ModelChoice[],
  named: readonly { name: string }[],
): string[] => [
  ...new Set([
    ...knownProviders,
    ...named.map(({ name }) => name),
    ...choices
      .filter(({ name }) => !isPlayedModel(name))
      .map(({ name }) => name.split(':')[0] ?? ''),
  ]),
];
