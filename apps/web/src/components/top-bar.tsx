import { Link } from '@tanstack/react-router';
import {
  ChartColumn,
  LayoutList,
  Plug,
  Plus,
  Search,
  Settings,
  Stethoscope,
  Workflow,
} from 'lucide-react';
import { pluralText } from '@belay/protocol';
import { ConnectionStatus } from '@/components/connection-status';
import { Notices } from '@/components/notices';
import { useUnseenAutomationNotices } from '@/lib/automation-notices';
import { openPalette } from '@/lib/commands';
import { formatKeys } from '@/lib/keys';
import { useReadOnly } from '@/lib/role';

const pages = [
  { to: '/', title: 'Fleet', Icon: LayoutList },
  { to: '/automations', title: 'Automations', Icon: Workflow },
  { to: '/actions', title: 'Actions', Icon: Plug },
  { to: '/evaluations', title: 'Evaluations', Icon: ChartColumn },
  { to: '/settings', title: 'Settings', Icon: Settings },
  { to: '/doctor', title: 'Doctor', Icon: Stethoscope },
] as const;

/** The bar above the pages outside a session. On phones its page links are in a bottom bar. */
export function TopBar() {
  const readOnly = useReadOnly();
  return (
    <header className="page-bar flex h-12 shrink-0 items-center gap-1 border-b bg-panel px-4">
      <Wordmark />
      <nav aria-label="Pages" className={nav}>
        {pages.map(({ to, title, Icon }) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: to === '/', includeSearch: false }}
            className={link}
          >
            <Icon size={17} strokeWidth={1.75} aria-hidden className="sm:hidden" />
            {title}
            {to === '/automations' && <AutomationsBadge />}
          </Link>
        ))}
      </nav>
      <div className="ml-auto flex items-center gap-2">
        <ConnectionStatus />
        <Notices />
        <button
          type="button"
          onClick={() => openPalette('all')}
          className="flex h-8 items-center gap-2 rounded-md border border-line-strong px-2 text-sm text-faint hover:bg-hover"
        >
          <Search size={14} aria-hidden />
          <span className="max-lg:sr-only">Commands</span>
          <kbd className="text-xs max-lg:hidden">{formatKeys('mod+k')}</kbd>
        </button>
        {!readOnly && (
          <Link
            to="/new"
            className="inline-flex h-8 items-center gap-1.5 rounded-md bg-solid px-3 text-sm font-medium text-on-solid hover:opacity-90"
          >
            <Plus size={15} aria-hidden />
            New session
          </Link>
        )}
      </div>
    </header>
  );
}

/** How many automations, runs and repositories need a user who has not seen it yet. */
function AutomationsBadge() {
  const count = useUnseenAutomationNotices();
  if (count === 0) return null;
  const label = pluralText(count, 'needs you', 'need you');
  return (
    <span
      role="img"
      aria-label={label}
      title={label}
      className="rounded-full bg-amber-fill px-1.5 text-xs font-medium text-on-amber tabular-nums"
    >
      {count}
    </span>
  );
}

const nav =
  'ml-3 flex items-center gap-1 max-sm:fixed max-sm:inset-x-0 max-sm:bottom-0 max-sm:z-30 max-sm:ml-0 max-sm:gap-0 max-sm:h-[calc(56px+env(safe-area-inset-bottom))] max-sm:justify-around max-sm:border-t max-sm:bg-panel max-sm:pb-[env(safe-area-inset-bottom)]';

const link =
  'inline-flex h-8 items-center gap-1.5 rounded-md px-2 text-sm text-muted hover:bg-hover hover:text-ink max-sm:h-12 max-sm:min-w-0 max-sm:flex-1 max-sm:flex-col max-sm:justify-center max-sm:gap-0.5 max-sm:px-0 max-sm:text-[11px] [&.active]:font-medium [&.active]:text-ink';

/** The logo with the name; `short` shows only the logo on phones. */
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
