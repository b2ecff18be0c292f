import { activityAt, type Activity } from '@belay/protocol';
import { useNow } from '@/lib/use-now';

/** A session’s activity over the last two minutes as a bar chart. */
export function Sparkline({ activity }: { activity: Activity }) {
  const now = useNow();
  const counts = activityAt(activity, now);
  const most = Math.max(4, ...counts);
  return (
    <svg viewBox="0 0 72 16" className="h-4 w-18 text-faint" aria-hidden>
      <path d="M0 15.5H72" stroke="var(--line)" />
      {counts.map((each, index) => {
        const height = each ? Math.max(2, (each / most) * 15) : 0;
        const x = 72 - (counts.length - index) * 3;
        return <rect key={x} x={x} y={15 - height} width="2" height={height} fill="currentColor" />;
      })}
    </svg>
  );
}
