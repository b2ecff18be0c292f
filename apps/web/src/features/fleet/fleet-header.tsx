import { clsx } from 'clsx';

/** The columns of the header and the rows. */
export const columns =
  'grid grid-cols-[16px_104px_minmax(0,1fr)_auto] gap-x-3 max-md:grid-cols-[minmax(0,1fr)_auto]';

interface FleetHeaderProps {
  /** Undefined if sessions cannot be selected. */
  picked: boolean | undefined;
  onPick(all: boolean): void;
}

/** Column headers; each row repeats them for screen readers. */
export function FleetHeader({ picked, onPick }: FleetHeaderProps) {
  return (
    <div
      className={clsx(
        columns,
        // Reserves the width of the list’s scrollbar, so that the columns align.
        'h-7 shrink-0 items-center overflow-hidden border-b px-4 text-xs text-faint [scrollbar-gutter:stable] max-md:hidden',
      )}
    >
      {picked === undefined ? (
        <span />
      ) : (
        <input
          type="checkbox"
          aria-label="Select all shown"
          checked={picked}
          onChange={(event) => onPick(event.target.checked)}
          className="accent-solid"
        />
      )}
      <span aria-hidden>State</span>
      <span aria-hidden>Session</span>
      <div aria-hidden className="flex items-center gap-5">
        <span className="w-18 whitespace-nowrap max-lg:hidden">Activity (2 min)</span>
        <span className="w-28 max-xl:hidden">Model</span>
        <span className="w-16 text-right">Steps</span>
        <span className="w-14 text-right">Cost</span>
        <span className="w-14 text-right">Age</span>
        <span className="w-7" />
      </div>
    </div>
  );
}
