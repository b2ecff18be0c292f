import { memo, useMemo } from 'react';
import type { Mark } from '@/features/session-log/log-marks';

const colours: Record<Mark['kind'], string> = {
  message: 'var(--ink)',
  step: 'var(--line-strong)',
  edit: 'var(--run)',
  failed: 'var(--fail)',
  approval: 'var(--amber-fill)',
  ended: 'var(--pass)',
};
const most = 200;

interface TrackProps {
  first: number;
  last: number;
  at: number;
  marks: readonly Mark[];
  onMove(seq: number): void;
}

/** The log as a line with marks, and a slider to move along it. */
export function Track({ first, last, at, marks, onMove }: TrackProps) {
  const place = (seq: number) => `${((seq - first) / Math.max(1, last - first)) * 100}%`;
  return (
    <div className="relative mx-2 h-6 min-w-0 flex-1">
      <div aria-hidden className="absolute inset-x-2 top-0 h-full">
        <div className="absolute top-1/2 h-px w-full bg-line-strong" />
        <div className="absolute top-1/2 h-px bg-muted" style={{ width: place(at) }} />
        <Marks first={first} last={last} marks={marks} />
      </div>
      <input
        type="range"
        aria-label="Moment of the session"
        aria-valuetext={`event ${at} of ${last}`}
        min={first}
        max={last}
        value={at}
        onChange={(event) => onMove(Number(event.target.value))}
        className="scrubber absolute inset-0 h-full w-full"
      />
    </div>
  );
}

/** Memoized: rerenders only when the log has grown. */
const Marks = memo(function Marks({ first, last, marks }: Omit<TrackProps, 'at' | 'onMove'>) {
  const drawn = useMemo(() => thin(marks, most), [marks]);
  const span = Math.max(1, last - first);
  return (
    <svg className="absolute inset-0 size-full overflow-visible">
      {drawn.map(({ seq, kind }) => (
        <circle
          key={seq}
          cx={`${((seq - first) / span) * 100}%`}
          cy="50%"
          r={kind === 'step' ? 1.5 : 3}
          fill={colours[kind]}
        />
      ))}
    </svg>
  );
});

/** At most `limit` marks; steps and edits are dropped first. */
function thin(marks: readonly Mark[], limit: number): readonly Mark[] {
  if (marks.length <= limit) return marks;
  const telling = marks.filter(({ kind }) => kind !== 'step' && kind !== 'edit');
  if (telling.length > limit) {
    const every = Math.ceil(telling.length / limit);
    return telling.filter((_, index) => index % every === 0);
  }
  return telling;
}
