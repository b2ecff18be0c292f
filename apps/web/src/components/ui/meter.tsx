import { clsx } from 'clsx';

interface MeterProps {
  label: string;
  value: number;
  max: number;
  /** Shows progress instead of a limit, so a full meter is not a warning. */
  plain?: boolean;
}

/** The used share of a limit. */
export function Meter({ label, value, max, plain }: MeterProps) {
  const share = Math.min(1, max > 0 ? value / max : 0);
  return (
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={Math.min(value, max)}
      className="h-1.5 w-full overflow-hidden rounded-full bg-hover"
    >
      <div
        className={clsx(
          'h-full rounded-full',
          plain ? 'bg-pass' : share >= 0.9 ? 'bg-fail' : 'bg-muted',
        )}
        style={{ width: `${share * 100}%` }}
      />
    </div>
  );
}
