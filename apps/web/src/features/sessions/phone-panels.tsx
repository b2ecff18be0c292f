import { useState } from 'react';
import { cx } from '@/lib/classes';
import type { PanelId } from './dock-store';
import { panelTitles } from './panel-titles';
import { PanelContent } from './panels';

const onPhone: readonly PanelId[] = ['chat', 'plan', 'terminal', 'changes', 'browser'];

/** One panel at a time, chosen at the foot: enough to watch, to approve and to stop. */
export function PhonePanels() {
  const [shown, setShown] = useState<PanelId>('chat');
  return (
    <div className="flex h-full flex-col bg-panel">
      <div className="min-h-0 flex-1">
        <PanelContent panel={shown} />
      </div>
      <nav aria-label="Panels" className="flex shrink-0 border-t pb-[env(safe-area-inset-bottom)]">
        {onPhone.map((panel) => (
          <button
            key={panel}
            type="button"
            aria-current={panel === shown}
            onClick={() => setShown(panel)}
            className={cx(
              'h-11 flex-1 border-t-2 text-sm',
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
