import { lazy, Suspense, type ComponentType } from 'react';
import { Loading } from '@/components/ui/empty';
import { PanelBoundary } from '@/components/ui/panel-boundary';
import { ChatPanel } from '../chat/chat-panel';
import { PlanPanel } from '../planner/plan-panel';
import type { PanelId } from './dock-store';
import { panelTitles } from './panel-titles';

const panels: Record<PanelId, ComponentType> = {
  chat: ChatPanel,
  plan: PlanPanel,
  code: lazy(async () => ({ default: (await import('../code/code-panel')).CodePanel })),
  changes: lazy(async () => ({ default: (await import('../changes/changes-panel')).ChangesPanel })),
  terminal: lazy(async () => ({
    default: (await import('../terminal/terminal-panel')).TerminalPanel,
  })),
  browser: lazy(async () => ({ default: (await import('../browser/browser-panel')).BrowserPanel })),
  usage: lazy(async () => ({ default: (await import('./usage-panel')).UsagePanel })),
  log: lazy(async () => ({ default: (await import('./log-panel')).LogPanel })),
};

export function PanelContent({ panel }: { panel: PanelId }) {
  const Content = panels[panel];
  return (
    <PanelBoundary key={panel}>
      <Suspense fallback={<Loading what={panelTitles[panel].toLowerCase()} />}>
        <Content />
      </Suspense>
    </PanelBoundary>
  );
}
