import { clsx } from 'clsx';
import { intoView } from '@/lib/into-view';
import { panelIds, panelTitles } from '@/lib/panels';
import { useDock } from './dock-store';
import { PanelContent } from './panel-content';

/** One panel at a time, chosen in a bottom bar, or by a link in another panel. */
export function PhonePanels() {
  const shown = useDock(({ wanted }) => wanted?.panel ?? 'chat');
  return (
    <div className="flex h-full flex-col bg-panel">
      <div className="min-h-0 flex-1">
        <PanelContent panel={shown} />
      </div>
      <nav
        aria-label="Panels"
        className="flex shrink-0 overflow-x-auto border-t pb-[env(safe-area-inset-bottom)] [scrollbar-width:none]"
      >
        {panelIds.map((panel) => (
          <button
            key={panel}
            ref={panel === shown ? intoView : undefined}
            type="button"
            aria-current={panel === shown}
            onClick={() => useDock.getState().show(panel)}
            className={clsx(
              'h-11 min-w-18 flex-1 shrink-0 border-t-2 text-sm',
              panel === shown ? 'border-ink font-medium' : 'border-transparent text-muted',
            )}
          >
            {panelTitles[panel]}
          </button>
        ))}
      </nav>
    </div>
  );
}
