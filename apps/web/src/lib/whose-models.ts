import { wireFormatsOf, type WireFormatName } from '@belay/protocol';

const providers: Readonly<Record<string, string>> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  google: 'Google',
  'openai-compatible': 'OpenAI-compatible servers',
};

/** Whose models an agent can use, as a list for people. */
export function whoseModels(formats: readonly WireFormatName[]): string {
  const spoken = Object.keys(providers).filter((provider) => speaksTo(formats, provider));
  if (spoken.length === Object.keys(providers).length) return 'models of every provider';
  const names = spoken.map((provider) => providers[provider]).join(', ');
  return `models of ${names.replace(/, ([^,]*)$/, ' and $1')}`;
}

/** Whether an agent that speaks these formats can use the models of a provider. */
export const speaksTo = (formats: readonly WireFormatName[], provider: string): boolean =>
  wireFormatsOf(provider).some((format) => formats.includes(format));
