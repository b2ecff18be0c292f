import { newEvent } from '@belay/protocol';
import type { EventLog } from '../logs/event-log.js';
import { parseModelName } from './model-name.js';

/** Sessions that wait for this provider, whose setup was changed, try again at once. */
export async function resumeSessionsOf(provider: string, events: EventLog): Promise<void> {
  const message = `The setup of ${provider} was changed: trying again.`;
  for (const { id } of await events.summaries()) {
    await events.append(id, ({ model, modelError }) =>
      modelError && isOf(provider, model)
        ? [newEvent('server', 'resume', { args: {}, message })]
        : [],
    );
  }
}

function isOf(provider: string, model: string): boolean {
  const address = parseModelName(model);
  return address.kind === 'provider' && address.provider === provider;
}
