import { Link } from '@tanstack/react-router';
import { ChartColumn, Plus, Search, Settings, Stethoscope } from 'lucide-react';
import { Connection } from '@/features/sessions/connection';
import { openPalette } from '@/lib/commands';
import { formatKeys } from '@/lib/keys';
import { useReadOnly } from '@/lib/role';

const link =
  'inline-flex h-8 items-center gap-1.5 rounded-md px-2 text-sm text-muted hover:bg-hover hover:text-ink [&.active]:text-ink [&.active]:font-medium';

/** The bar over the pages outside a session. */
export function TopBar() {
  const readOnly = useReadOnly();
  return (
    <header className="flex h-12 shrink-0 items-center gap-1 border-b bg-panel px-4">
      <Wordmark />
      <nav aria-label="Pages" className="ml-3 flex items-center gap-1 max-sm:ml-1">
        <Link to="/" activeOptions={{ exact: true, includeSearch: false }} className={link}>
          Fleet
        </Link>
        <Link to="/evaluations" className={link}>
          <ChartColumn size={15} aria-hidden className="sm:hidden" />
          <span className="max-sm:sr-only">Evaluations</span>
        </Link>
        <Link to="/settings" className={link}>
          <Settings size={15} aria-hidden className="sm:hidden" />
          <span className="max-sm:sr-only">Settings</span>
        </Link>
        <Link to="/doctor" className={link}>
          <Stethoscope size={15} aria-hidden className="sm:hidden" />
          <span className="max-sm:sr-only">Doctor</span>
        </Link>
      </nav>
      <div className="ml-auto flex items-center gap-2">
        <Connection />
        <button
          type="button"
          onClick={() => openPalette(true)}
          className="flex h-8 items-center gap-2 rounded-md border border-line-strong px-2 text-sm text-faint hover:bg-hover"
        >
          <Search size={14} aria-hidden />
          <span className="max-sm:sr-only">Commands</span>
          <kbd className="text-xs max-sm:hidden">{formatKeys('mod+k')}</kbd>
        </button>
        {!readOnly && (
          <Link
            to="/new"
            className="inline-flex h-8 items-center gap-1.5 rounded-md bg-solid px-3 text-sm font-medium text-on-solid hover:opacity-90"
          >
            <Plus size={15} aria-hidden />
            <span className="max-sm:sr-only">New session</span>
          </Link>
        )}
      </div>
    </header>
  );
}

/** `short` leaves only the sign of it on a phone. */
export function Wordmark({ short }: { short?: boolean }) {
  return (
    <Link to="/" className="flex items-center gap-2 rounded-md text-base font-semibold">
      <svg viewBox="0 0 20 20" className="size-5" aria-hidden>
        <path
          d="M6 17V6a4 4 0 0 1 8 0v5a4 4 0 0 1-8 0"
          fill="none"
          stroke="var(--amber-fill)"
          strokeWidth="2.2"
          strokeLinecap="round"
        />
      </svg>
      <span className={short ? 'max-md:sr-only' : ''}>belay</span>
    </Link>
  );
}
