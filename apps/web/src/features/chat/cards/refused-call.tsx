import { useView } from '@/features/session-log/session-context';
import type { Result } from '@/features/session-log/call-result';
import { CallEntry } from './call-entry';

/** A call of the model that was refused before it began, for example because the user wrote: a grey card. */
export function RefusedCall({ event }: { event: Result }) {
  const call = useView((view) => view.asked.get(event.id ?? ''));
  const { seq, time, message } = event;
  const { operation } = event.args;
  const args = isObject(call?.input) ? call.input : {};
  return (
    <CallEntry
      refused
      event={{ seq, time, message, source: 'agent', action: operation, args, id: event.id ?? '' }}
    />
  );
}

const isObject = (input: unknown): input is Record<string, unknown> =>
  typeof input === 'object' && input !== null && !Array.isArray(input);
