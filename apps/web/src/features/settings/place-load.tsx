import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  bytesText,
  installedTexts,
  loadText,
  pluralText,
  type MachineMove,
  type PlaceCapacity,
} from '@belay/protocol';
import { clsx } from 'clsx';
import { Meter } from '@/components/ui/meter';
import { sessionsQuery } from '@/lib/summaries';

interface PlaceLoadProps {
  running: number;
  /** Null if it is not known. */
  capacity: PlaceCapacity | null;
  /** Those of other vendors that are installed there. */
  agents?: readonly string[];
  sessions: readonly string[];
  /** What became of the sessions when the place was drained. */
  moves?: readonly MachineMove[];
}

/** How full a place is, the sessions whose sandboxes it has, and those that have left it. */
export function PlaceLoad({
  running,
  capacity,
  agents = [],
  sessions,
  moves = [],
}: PlaceLoadProps) {
  const listed = new Set([...sessions, ...moves.map(({ session }) => session)]);
  const { memoryMb = null, cpus = null } = capacity ?? {};
  return (
    <div className="mt-2 space-y-1.5">
      {capacity && <Meter label="Sandboxes" value={running} max={capacity.sandboxes} />}
      <p className="text-xs break-words text-muted">
        {loadText(running, capacity)}
        {memoryMb !== null && ` · ${bytesText(memoryMb * 2 ** 20)} of memory`}
        {cpus !== null && ` · ${pluralText(cpus, 'CPU')}`}
        {installedTexts({ agents, capacity }).map((text) => ` · ${text}`)}
      </p>
      {listed.size > 0 && (
        <ul className="space-y-0.5 text-xs">
          {[...listed].map((id) => (
            <li key={id} className="break-words">
              <SessionLink id={id} />
              <MoveNote move={moves.find(({ session }) => session === id)} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function MoveNote({ move }: { move: MachineMove | undefined }) {
  if (!move) return null;
  const { state, detail } = move;
  const isKept = state === 'kept';
  return (
    <span className={clsx('ml-1.5', isKept ? 'text-fail' : 'text-muted')}>
      {isKept ? `stays here: ${detail}` : detail}
    </span>
  );
}

/** Leads to a session by its title. */
function SessionLink({ id }: { id: string }) {
  const { data = [] } = useQuery(sessionsQuery);
  const title = data.find((session) => session.id === id)?.title ?? id;
  return (
    <Link to="/sessions/$id" params={{ id }} className="text-muted underline hover:text-ink">
      {title}
    </Link>
  );
}
