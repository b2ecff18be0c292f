import { isEvent, type AutomationTrigger, type Event, type SessionSummary } from '@belay/protocol';

export type SessionTrigger = Extract<AutomationTrigger, { session: unknown }>;

/** One of the ends of a session: a session that is resumed ends again. */
export interface SessionEnd {
  session: string;
  seq: number;
  at: string;
  state: SessionTrigger['session']['state'][number];
  tags: readonly string[];
}

/** The end that an event is; undefined for any other event, and for one of the session that this one was copied from. */
export function sessionEndOf(
  { id, created, tags }: Pick<SessionSummary, 'id' | 'created' | 'tags'>,
  event: Event,
): SessionEnd | undefined {
  if (!isEvent(event, 'state') || event.time < created) return undefined;
  const { state } = event.args;
  if (state !== 'finished' && state !== 'failed' && state !== 'limited') return undefined;
  return { session: id, seq: event.seq, at: event.time, state, tags };
}
