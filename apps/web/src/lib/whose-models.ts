import type { WireFormatName } from '@belay/protocol';

const providers: Readonly<Record<WireFormatName, string>> = {
  messages: 'Anthropic',
  responses: 'OpenAI',
  gemini: 'Google',
  chat: 'OpenAI-compatible servers',
};

/** Whose models an agent can use, as a list for people. */
export function whoseModels(formats: readonly WireFormatName[]): string {
  if (formats.length === Object.keys(providers).length) return 'models of every provider';
  const names = formats.map((format) => providers[format]);
  return `models of ${names.join(', ').replace(/, ([^,]*)$/, ' and $1')}`;
}
