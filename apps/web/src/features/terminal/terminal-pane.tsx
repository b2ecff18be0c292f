import { lazy, Suspense } from 'react';
import { Columns2, Download, Plus } from 'lucide-react';
import { clsx } from 'clsx';
import { Loading } from '@/components/ui/empty';
import { IconButton } from '@/components/ui/icon-button';
import { Menu } from '@/components/ui/menu';
import { useSessionContext, useSessionId } from '@/features/session-log/session-context';
import { useTitle } from '@/lib/summaries';
import { useCanAct } from '@/features/session-controls/use-can-act';
import { intoView } from '@/lib/into-view';
import { attempt } from '@/lib/toasts';
import { nextName } from './terminal-names';
import { saveRecording } from './save-recording';
import type { SplitOrientation } from './splits';
import { openTerminal } from './terminal-control';
import { TerminalHolder } from './terminal-holder';

const TerminalView = lazy(async () => ({
  default: (await import('./terminal-view')).TerminalView,
}));

interface TerminalPaneProps extends TerminalBarProps {
  /** The user focused or clicked this pane. */
  onUse?(): void;
}

/** A terminal with its toolbar. */
export function TerminalPane({ onUse, ...bar }: TerminalPaneProps) {
  const { shown, inUse } = bar;
  return (
    <div className="flex h-full flex-col" onFocus={onUse} onPointerDown={onUse}>
      <TerminalBar {...bar} />
      <div className="min-h-0 flex-1">
        <Suspense fallback={<Loading what="the terminal" />}>
          <TerminalView key={shown} name={shown} inUse={inUse} />
        </Suspense>
      </div>
    </div>
  );
}

interface TerminalBarProps {
  names: readonly string[];
  shown: string;
  onChoose(name: string): void;
  /** Null if the panel cannot be split from here. */
  splitting: SplitMenuProps | null;
  /** Whether commands of the palette apply to this terminal. */
  inUse: boolean;
}

function TerminalBar({ names, shown, onChoose, splitting, inUse }: TerminalBarProps) {
  const session = useSessionId();
  const { log } = useSessionContext();
  const title = useTitle(session) ?? 'session';
  const canAct = useCanAct();
  return (
    <div className="flex h-8 shrink-0 items-center gap-1 border-b px-2">
      <div
        role="group"
        aria-label="Terminals"
        className="flex min-w-0 items-center gap-0.5 overflow-x-auto overflow-y-hidden [scrollbar-width:none]"
      >
        {names.map((name) => (
          <button
            key={name}
            ref={name === shown ? intoView : undefined}
            type="button"
            aria-pressed={name === shown}
            title={name}
            onClick={() => onChoose(name)}
            className={clsx(
              'h-6 max-w-60 shrink-0 truncate rounded-sm px-2 font-mono text-xs',
              name === shown ? 'bg-hover text-ink' : 'text-muted hover:text-ink',
            )}
          >
            {name}
          </button>
        ))}
      </div>
      {canAct && (
        <IconButton
          label="Open a terminal"
          icon={Plus}
          className="size-6"
          onClick={() => {
            const name = nextName(names);
            attempt(async () => {
              await openTerminal(session, name);
              onChoose(name);
            });
          }}
        />
      )}
      <span className="flex-1" />
      <IconButton
        label="Save as a recording (asciicast)"
        icon={Download}
        className="size-6"
        onClick={() =>
          attempt(() =>
            saveRecording({
              session,
              title,
              terminal: shown,
              events: log.getState().events,
            }),
          )
        }
      />
      {splitting && <SplitMenu {...splitting} />}
      <TerminalHolder terminal={shown} inUse={inUse} />
    </div>
  );
}

interface SplitMenuProps {
  /** How two terminals are arranged; null for a single one. */
  orientation: SplitOrientation | null;
  onSplit(orientation: SplitOrientation | null): void;
}

function SplitMenu({ orientation, onSplit }: SplitMenuProps) {
  return (
    <Menu
      trigger={<IconButton label="Split" icon={Columns2} className="size-6" />}
      items={() => [
        {
          label: 'Side by side',
          disabled: orientation === 'horizontal',
          run: () => onSplit('horizontal'),
        },
        {
          label: 'Stacked',
          disabled: orientation === 'vertical',
          run: () => onSplit('vertical'),
        },
        ...(orientation ? [null, { label: 'One terminal', run: () => onSplit(null) }] : []),
      ]}
    />
  );
}
