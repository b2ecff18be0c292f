import { lazy, Suspense, type ComponentType } from 'react';
import { Loading } from '@/components/ui/empty';
import { PanelBoundary } from '@/components/ui/panel-boundary';
import { ChatPanel } from '@/features/chat/chat-panel';
import { PlanPanel } from '@/features/planner/plan-panel';
import type { PanelId } from '@/lib/panels';
import { panelTitles } from '@/lib/panels';

const panels: Record<PanelId, ComponentType> = {
  chat: ChatPanel,
  plan: PlanPanel,
  code: lazy(async () => ({ default: (await import('@/features/code/code-panel')).CodePanel })),
  changes: lazy(async () => ({
    default: (await import('@/features/changes/changes-panel')).ChangesPanel,
  })),
  terminal: lazy(async () => ({
    default: (await import('@/features/terminal/terminal-panel')).TerminalPanel,
  })),
  browser: lazy(async () => ({
    default: (await import('@/features/browser/browser-panel')).BrowserPanel,
  })),
  usage: lazy(async () => ({ default: (await import('@/features/usage/usage-panel')).UsagePanel })),
  log: lazy(async () => ({ default: (await import('@/features/log/log-panel')).LogPanel })),
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
