import { newEvent, type SessionSummary } from '@belay/protocol';
import type { EventLog } from '../logs/event-log.js';
import { parseModelName } from './model-name.js';

/** This server’s sessions that wait for the provider, whose setup was changed, try again at once. */
export async function resumeSessionsOf(provider: string, events: EventLog): Promise<void> {
  const message = `The setup of ${provider} was changed: trying again.`;
  for (const { id } of (await events.owned()).filter((one) => waitsFor(provider, one))) {
    await events.append(id, (now) =>
      waitsFor(provider, now) ? [newEvent('server', 'resume', { args: {}, message })] : [],
    );
  }
}

/** A paused session waits for its user instead. */
function waitsFor(provider: string, { state, model, modelError }: SessionSummary): boolean {
  if (state === 'paused' || !modelError) return false;
  const address = parseModelName(model);
  return address.kind === 'provider' && address.provider === provider;
}
