import { ageText, dateTimeText } from '@belay/protocol';
import { useNow } from '@/lib/use-now';

/** How long ago something was; the time itself on hover. */
export function Age({ time }: { time: string }) {
  const now = useNow(10_000);
  return (
    <time dateTime={time} title={dateTimeText(time)}>
      {ageText(time, now)}
    </time>
  );
}
