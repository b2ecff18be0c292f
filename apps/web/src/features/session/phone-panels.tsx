import { useState } from 'react';
import { clsx } from 'clsx';
import type { PanelId } from '@/lib/panels';
import { panelTitles } from '@/lib/panels';
import { PanelContent } from './panel-content';

const onPhone: readonly PanelId[] = ['chat', 'plan', 'terminal', 'changes', 'browser'];

/** One panel at a time, chosen in a bottom bar; phones show only the most useful panels. */
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
            className={clsx(
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
