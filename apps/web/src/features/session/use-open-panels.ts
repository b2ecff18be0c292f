import { useLayoutEffect } from 'react';
import { useLog, useSessionId } from '@/features/session-log/session-context';
import type { LiveLog } from '@/features/session-log/live-log-store';
import { useDock } from './dock-store';
import type { OpeningPanel } from './regions';

/**
 * Opens each panel at its first content, before the first paint if the content is already there.
 */
export function useOpenPanels(): void {
  const session = useSessionId();
  const filled = useLog(filledPanels);
  useLayoutEffect(() => useDock.getState().visit(session), [session]);
  useLayoutEffect(() => {
    for (const panel of filled.split(' '))
      if (panel) useDock.getState().fill(panel as OpeningPanel);
  }, [session, filled]);
}

/** Reads the live log, so that viewing a past moment closes nothing. */
function filledPanels({ view, terminals, frame }: LiveLog): string {
  const filled: Record<OpeningPanel, boolean> = {
    terminal: terminals.size > 0 || view.terminals.size > 0,
    browser: view.page !== undefined || frame !== null,
    plan: view.plan !== undefined,
  };
  return Object.entries(filled)
    .flatMap(([panel, is]) => (is ? panel : []))
    .join(' ');
}
