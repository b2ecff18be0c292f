import {
  belayVersion,
  errorShape,
  ownAgent,
  ownValue,
  type EventArgs,
  type SessionSettings,
} from '@belay/protocol';
import { parseModelName, type ModelAddress } from '../models/model-name.js';
import type { SpanAttributes } from './finished-span.js';

/** The longest name that becomes an attribute. */
const longestName = 200;
/** The longest text, of all that is captured of one span and attribute. */
const longestContent = 4_096;

/** The names of the conventions for providers whose names here differ. */
const providers: Readonly<Record<string, string>> = { google: 'gcp.gemini' };

/**
 * Provider and model by the semantic conventions. Of a played model only its kind is told, because its name is that of
 * a file.
 */
export function modelAttributes(name: string): SpanAttributes {
  const address = addressOf(name);
  if (address?.kind !== 'provider')
    return { 'gen_ai.provider.name': address?.kind === 'cassette' ? 'cassette' : 'scripted' };
  const { provider, model } = address;
  return {
    'gen_ai.provider.name': ownValue(providers, provider) ?? provider,
    'gen_ai.request.model': boundedName(model),
  };
}

/** Undefined for a name of a played model that no longer exists. */
function addressOf(name: string): ModelAddress | undefined {
  try {
    return parseModelName(name);
  } catch {
    return undefined;
  }
}

export const agentAttributes = (agent: SessionSettings['agent']): SpanAttributes => ({
  'gen_ai.agent.name': agent?.name ?? ownAgent,
  'gen_ai.agent.version': boundedName(agent?.version ?? belayVersion),
});

export const boundedName = (name: string): string => cut(name, longestName);

export const boundedContent = (text: string): string => cut(text, longestContent);

/** Messages as the conventions want them in an attribute: JSON with roles and parts. */
export const messagesAttribute = (role: 'user' | 'assistant', text: string): string =>
  JSON.stringify([{ role, parts: [{ type: 'text', content: boundedContent(text) }] }]);

/** A value as JSON, cut off where it is too long. */
export const contentAttribute = (value: unknown): string =>
  boundedContent(JSON.stringify(value) ?? '');

/** The class of error of a turn: of the session’s end, or of that which a program reported. */
export function turnFailure(end: string, error: string | null): string | null {
  if (end === 'failed') return error ?? 'failed';
  if (end === 'limited') return 'limit_reached';
  return ['refused', 'cut', 'interrupted'].includes(end) ? end : null;
}

/** Name and attributes of a request to a model. */
export function chatSpan(model: string): [string, SpanAttributes] {
  const attributes = modelAttributes(model);
  const name = attributes['gen_ai.request.model'] ?? attributes['gen_ai.provider.name'];
  return [`chat ${String(name)}`, { 'gen_ai.operation.name': 'chat', ...attributes }];
}

export const tokenAttributes = (usage: EventArgs<'usage'>): Record<string, number> => ({
  'gen_ai.usage.input_tokens': usage.inputTokens,
  'gen_ai.usage.output_tokens': usage.outputTokens,
  'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens,
});

export const costAttributes = ({ dollars }: EventArgs<'usage'>): SpanAttributes =>
  dollars === null ? {} : { 'belay.usage.dollars': dollars };

export function outputErrorCode(output: unknown): string {
  const { data } = errorShape.pick({ code: true }).safeParse(output);
  return data?.code ?? '_OTHER';
}

const cut = (text: string, most: number): string =>
  (text.length > most ? `${text.slice(0, most - 1)}…` : text).toWellFormed();
