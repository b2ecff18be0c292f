import type { Event, EventOf } from '@belay/protocol';
import { RerunClaims } from '@/components/rerun-claims';
import { useSessionId } from '@/features/session-log/session-context';
import { NoteEntry } from './note-entry';

/** A push, with a link to its pull request, and what was found by running tests again before it. */
export function PublishEntry({ event }: { event: Event & EventOf<'publish'> }) {
  const session = useSessionId();
  const { pullRequest, reruns } = event.args;
  // The verdicts have lines of their own.
  const [pushed = ''] = event.message.split('\n');
  return (
    <>
      <NoteEntry event={{ ...event, message: reruns ? pushed : event.message }}>
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
      {reruns && (
        <div className="py-1 pl-3.5">
          <RerunClaims session={session} claims={reruns.claims} />
        </div>
      )}
    </>
  );
}
