import type { Event, EventOf } from '@belay/protocol';
import { NoteEntry } from './note-entry';

/** A push, with a link to its pull request. */
export function PublishEntry({ event }: { event: Event & EventOf<'publish'> }) {
  const { pullRequest } = event.args;
  return (
    <NoteEntry event={event}>
      {pullRequest && (
        <a
          href={pullRequest.url}
          target="_blank"
          rel="noreferrer"
          className="shrink-0 text-ink underline"
        >
          Open pull request {pullRequest.number}
        </a>
      )}
    </NoteEntry>
  );
}
