import { lazy, Suspense, type ComponentType } from 'react';
import { Loading } from '@/components/ui/empty';
import { PanelBoundary } from '@/components/ui/panel-boundary';
import { ChatPanel } from '@/features/chat/chat-panel';
import { PlanPanel } from '@/features/planner/plan-panel';
import { panelTitles, type PanelId } from '@/lib/panels';

const panel = <N extends string>(load: () => Promise<Record<N, ComponentType>>, name: N) =>
  lazy(async () => ({ default: (await load())[name] }));

const panels: Record<PanelId, ComponentType> = {
  chat: ChatPanel,
  plan: PlanPanel,
  code: panel(() => import('@/features/code/code-panel'), 'CodePanel'),
  changes: panel(() => import('@/features/changes/changes-panel'), 'ChangesPanel'),
  terminal: panel(() => import('@/features/terminal/terminal-panel'), 'TerminalPanel'),
  browser: panel(() => import('@/features/browser/browser-panel'), 'BrowserPanel'),
  usage: panel(() => import('@/features/usage/usage-panel'), 'UsagePanel'),
  log: panel(() => import('@/features/log/log-panel'), 'LogPanel'),
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
