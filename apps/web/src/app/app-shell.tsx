import { useMemo } from 'react';
import { Outlet, useNavigate } from '@tanstack/react-router';
import { QuestionDialog } from '@/components/ui/question-dialog';
import { Toasts } from '@/components/ui/toasts';
import { ForkDialog } from '@/features/session-controls/fork-dialog';
import { PublishDialog } from '@/features/session-controls/publish-dialog';
import { ShareDialog } from '@/features/session-controls/share-dialog';
import { useFleetUpdates } from '@/features/session-log/summaries';
import { openPalette, useCommands, type PaletteCommand } from '@/lib/commands';
import { usePreferences } from '@/lib/preferences';
import { Palette } from './palette';

/** What every page has: its commands, the palette and toasts. */
export function AppShell() {
  useFleetUpdates();
  useCommands(useAppCommands());
  return (
    <div className="flex h-full flex-col">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-panel focus:p-2"
      >
        Skip to content
      </a>
      <Outlet />
      <Palette />
      <QuestionDialog />
      <ForkDialog />
      <PublishDialog />
      <ShareDialog />
      <Toasts />
    </div>
  );
}

function useAppCommands(): readonly PaletteCommand[] {
  const navigate = useNavigate();
  return useMemo(() => {
    const go = (to: '/' | '/new' | '/actions' | '/evaluations' | '/settings' | '/doctor') => () =>
      void navigate({ to });
    const theme = (name: 'light' | 'dark' | 'system'): PaletteCommand => ({
      id: `theme.${name}`,
      title: name === 'system' ? 'Theme: system' : `Theme: ${name}`,
      group: 'Appearance',
      run: () => usePreferences.getState().set({ theme: name }),
    });
    return [
      {
        id: 'palette',
        title: 'Open the command palette',
        group: 'Go',
        keys: 'mod+k',
        run: () => openPalette('all'),
      },
      { id: 'go.fleet', title: 'Go to the fleet', group: 'Go', keys: 'g f', run: go('/') },
      { id: 'go.new', title: 'New session', group: 'Go', keys: 'g n', run: go('/new') },
      {
        id: 'go.evaluations',
        title: 'Go to the evaluations',
        group: 'Go',
        keys: 'g e',
        run: go('/evaluations'),
      },
      {
        id: 'go.actions',
        title: 'Go to the actions',
        group: 'Go',
        keys: 'g a',
        run: go('/actions'),
      },
      { id: 'go.settings', title: 'Settings', group: 'Go', keys: 'g s', run: go('/settings') },
      { id: 'go.doctor', title: 'Check the setup', group: 'Go', keys: 'g d', run: go('/doctor') },
      {
        id: 'go.shortcuts',
        title: 'Shortcuts',
        group: 'Go',
        keys: '?',
        run: () => void navigate({ to: '/settings', search: { section: 'shortcuts' } }),
      },
      theme('light'),
      theme('dark'),
      theme('system'),
    ];
  }, [navigate]);
}
