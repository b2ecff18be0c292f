import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { bytesText, loadText, pluralText, type PlaceCapacity } from '@belay/protocol';
import { Meter } from '@/components/ui/meter';
import { sessionsQuery } from '@/lib/summaries';

interface PlaceLoadProps {
  running: number;
  /** Null if it is not known. */
  capacity: PlaceCapacity | null;
  sessions: readonly string[];
}

/** How full a place is, and the sessions whose sandboxes it has. */
export function PlaceLoad({ running, capacity, sessions }: PlaceLoadProps) {
  return (
    <div className="mt-2 space-y-1.5">
      {capacity && <Meter label="Sandboxes" value={running} max={capacity.sandboxes} />}
      <p className="text-xs text-muted">
        {loadText(running, capacity)}
        {capacity &&
          ` · ${bytesText(capacity.memoryMb * 2 ** 20)} of memory · ${pluralText(capacity.cpus, 'CPU')}`}
      </p>
      {sessions.length > 0 && (
        <ul className="space-y-0.5 text-xs">
          {sessions.map((id) => (
            <li key={id} className="truncate">
              <SessionLink id={id} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Leads to a session by its title. */
export function SessionLink({ id }: { id: string }) {
  const { data = [] } = useQuery(sessionsQuery);
  const title = data.find((session) => session.id === id)?.title ?? id;
  return (
    <Link to="/sessions/$id" params={{ id }} className="text-muted underline hover:text-ink">
      {title}
    </Link>
  );
}
