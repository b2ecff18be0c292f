import { useCallback, useEffect, useMemo } from 'react';
import { Outlet, useNavigate, useRouter } from '@tanstack/react-router';
import { QuestionDialog } from '@/components/ui/question-dialog';
import { Toasts } from '@/components/ui/toasts';
import { ForkDialog } from '@/features/session-controls/fork-dialog';
import { PublishDialog } from '@/features/session-controls/publish-dialog';
import { ShareDialog } from '@/features/session-controls/share-dialog';
import { useAutomationNotices } from '@/lib/automation-notices';
import { useFleetUpdates } from '@/lib/summaries';
import { openPalette, useCommands, type PaletteCommand } from '@/lib/commands';
import { usePreferences, type Theme } from '@/lib/preferences';
import { live } from '@/lib/server';
import { endErrors } from '@/lib/toasts';
import { Palette } from './palette';

/** The shell of every page: global commands, palette, dialogs and toasts. */
export function AppShell() {
  const navigate = useNavigate();
  useFleetUpdates();
  useAutomationNotices(useCallback(() => void navigate({ to: '/automations' }), [navigate]));
  useErrorsEnd();
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

/** Errors end when the user goes to another page, and those of a lost connection when it is back. */
function useErrorsEnd(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onBeforeNavigate', ({ pathChanged }) => {
        if (pathChanged) endErrors();
      }),
    [router],
  );
  useEffect(
    () =>
      live().onState((state) => {
        if (state === 'live') endErrors('unavailable');
      }),
    [],
  );
}

function useAppCommands(): readonly PaletteCommand[] {
  const navigate = useNavigate();
  return useMemo(() => {
    type Page =
      '/' | '/new' | '/automations' | '/actions' | '/evaluations' | '/settings' | '/doctor';
    const go = (id: string, title: string, keys: string, to: Page): PaletteCommand => ({
      id: `go.${id}`,
      title,
      group: 'Go',
      keys,
      run: () => void navigate({ to }),
    });
    const theme = (name: Theme): PaletteCommand => ({
      id: `theme.${name}`,
      title: `Theme: ${name}`,
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
      go('fleet', 'Go to the fleet', 'g f', '/'),
      go('new', 'New session', 'g n', '/new'),
      go('evaluations', 'Go to the evaluations', 'g e', '/evaluations'),
      go('automations', 'Go to the automations', 'g u', '/automations'),
      go('actions', 'Go to the actions', 'g a', '/actions'),
      go('settings', 'Settings', 'g s', '/settings'),
      go('doctor', 'Check the setup', 'g d', '/doctor'),
      {
        ...go('shortcuts', 'Shortcuts', '?', '/settings'),
        run: () => void navigate({ to: '/settings', search: { section: 'shortcuts' } }),
      },
      theme('light'),
      theme('dark'),
      theme('system'),
    ];
  }, [navigate]);
}
