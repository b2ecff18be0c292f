import { useState, type DragEvent, type KeyboardEvent } from 'react';
import { Maximize2, Minimize2, MoreHorizontal } from 'lucide-react';
import { clsx } from 'clsx';
import { IconButton } from '@/components/ui/icon-button';
import { Menu } from '@/components/ui/menu';
import { intoView } from '@/lib/into-view';
import { type PanelId, panelTitles } from '@/lib/panels';
import { maximizedIn, regionsIn, useDock } from './dock-store';
import { PanelBadge } from './panel-badge';
import { PanelContent } from './panel-content';
import { regionIds, type RegionId } from './regions';

const directions: Record<RegionId, string> = {
  left: 'to the left',
  top: 'to the top',
  bottom: 'to the bottom',
  corner: 'to the right',
  foot: 'to the foot',
};
const dragged = 'application/x-belay-panel';

/**
 * A region with panels as tabs, which can be moved to another region by dragging or by the menu.
 */
export function DockRegion({ id }: { id: RegionId }) {
  const { tabs, active } = useDock((dock) => regionsIn(dock)[id]);
  const [over, setOver] = useState(false);
  const move = useDock((dock) => dock.move);
  const shown = active && tabs.includes(active) ? active : tabs[0];
  const accept = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes(dragged)) return;
    event.preventDefault();
    setOver(true);
  };
  return (
    <section
      aria-label={shown ? panelTitles[shown] : 'Panel'}
      className={clsx(
        '@container relative flex h-full min-w-0 flex-col bg-panel',
        over && 'outline-2 -outline-offset-2 outline-amber',
      )}
      // Both: a drop right after the pointer has entered an element, which may be new there, is refused otherwise.
      onDragEnter={accept}
      onDragOver={accept}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        const panel = event.dataTransfer.getData(dragged);
        if (panel) move(panel as PanelId, id);
      }}
    >
      <RegionTabs id={id} tabs={tabs} shown={shown} />
      <div
        id={`region-${id}`}
        role="tabpanel"
        aria-labelledby={`tab-${shown}`}
        className="min-h-0 flex-1 overflow-hidden @max-[64px]:invisible"
      >
        {/* Keeps its width while collapsed, and with it the scroll position and draft. */}
        <div className="h-full min-w-60">{shown && <PanelContent panel={shown} />}</div>
      </div>
    </section>
  );
}

interface RegionTabsProps {
  id: RegionId;
  tabs: readonly PanelId[];
  shown: PanelId | undefined;
}

function RegionTabs({ id, tabs, shown }: RegionTabsProps) {
  const { show, move, maximize } = useDock.getState();
  const maximized = useDock((dock) => maximizedIn(dock) === id);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || !shown) return;
    const next = tabs[(tabs.indexOf(shown) + step + tabs.length) % tabs.length];
    if (!next) return;
    show(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div className="flex h-8 shrink-0 items-center border-b pr-1 pl-2 @max-[64px]:absolute @max-[64px]:inset-0 @max-[64px]:z-10 @max-[64px]:h-full @max-[64px]:flex-col @max-[64px]:bg-panel @max-[64px]:p-0">
      <div
        role="tablist"
        aria-label="Panels"
        className="flex h-full min-w-0 flex-1 overflow-x-auto overflow-y-hidden [scrollbar-width:none] @max-[64px]:flex-col"
        onKeyDown={onKeyDown}
      >
        {tabs.map((panel) => (
          <button
            key={panel}
            id={`tab-${panel}`}
            ref={panel === shown ? intoView : undefined}
            type="button"
            role="tab"
            aria-selected={panel === shown}
            aria-controls={`region-${id}`}
            tabIndex={panel === shown ? 0 : -1}
            draggable
            onDragStart={(event) => event.dataTransfer.setData(dragged, panel)}
            onClick={() => show(panel)}
            onDoubleClick={() => maximize(maximized ? null : id)}
            className={clsx(
              '-mb-px flex items-center gap-1.5 border-b-2 px-2 text-sm @max-[64px]:border-b-0 @max-[64px]:py-2 @max-[64px]:[writing-mode:vertical-rl]',
              panel === shown
                ? 'border-ink font-medium'
                : 'border-transparent text-muted hover:text-ink',
            )}
          >
            {panelTitles[panel]}
            <PanelBadge panel={panel} />
          </button>
        ))}
      </div>
      <IconButton
        label={maximized ? 'Show all panels' : 'Maximize'}
        icon={maximized ? Minimize2 : Maximize2}
        onClick={() => maximize(maximized ? null : id)}
        className="size-6 @max-[64px]:hidden"
      />
      {shown && (
        <Menu
          trigger={
            <IconButton
              label="Move this panel"
              icon={MoreHorizontal}
              className="size-6 @max-[64px]:hidden"
            />
          }
          items={() => [
            ...regionIds
              .filter((region) => region !== id)
              .map((region) => ({
                label: `Move ${panelTitles[shown].toLowerCase()} ${directions[region]}`,
                run: () => move(shown, region),
              })),
            null,
            { label: 'Reset layout', run: () => useDock.getState().reset() },
          ]}
        />
      )}
    </div>
  );
}
