import { AppError, isPlayedModel, wireFormatsOf, type WireFormatName } from '@belay/protocol';
import { parseModelName } from '../models/model-name.js';
import type { AgentEntry } from './agent-entry.js';

/** The format between the agent and the model's provider. Throws one sentence if there is none. */
export function formatFor(entry: AgentEntry, model: string): WireFormatName {
  const { title, formats } = entry;
  const address = parseModelName(model);
  if (isPlayedModel(model) || address.kind !== 'provider')
    throw new AppError(
      'invalid_input',
      `${title} calls its model itself, so that a script or recording cannot play one: choose a model of a provider.`,
    );
  const spoken = wireFormatsOf(address.provider);
  const format = formats.find((one) => spoken.includes(one));
  if (format) return format;
  const fitting = examples.filter(({ format: one }) => formats.includes(one));
  throw new AppError(
    'invalid_input',
    `${title} cannot call models of ${address.provider}: choose one of ${fitting.map(({ of }) => of).join(' or ')}.`,
  );
}

const examples: readonly { format: WireFormatName; of: string }[] = [
  { format: 'messages', of: 'anthropic' },
  { format: 'responses', of: 'openai' },
  { format: 'gemini', of: 'google' },
  { format: 'chat', of: 'openai or a server with a compatible API' },
];

/** Throws `invalid_input` unless a session’s model and the one for small tasks are of one provider. */
export function assertSameProvider(model: string, small: string): void {
  const [one, other] = [model, small].map((name) => name.slice(0, name.indexOf(':')));
  if (one !== other)
    throw new AppError(
      'invalid_input',
      `The model for small tasks, ${small}, must be of ${one}, as the session’s model is.`,
    );
}

/** The name of a model that its provider knows. */
export function bareName(model: string): string {
  const address = parseModelName(model);
  return address.kind === 'provider' ? address.model : model;
}
