import { useMemo } from 'react';
import { isEnded } from '@belay/protocol';
import { useCommands, type Command } from '@/lib/commands';
import { client } from '@/lib/server';
import { attempt, say } from '@/lib/toasts';
import { panelIds, useDock, type PanelId } from './dock-store';
import { lookAt, useSessionContext } from './session-context';
import { panelTitles } from './panel-titles';
import { summaryNow, useSessionState } from './queries';

/** What a person can do in a session by palette and keys. */
export function useSessionCommands(): void {
  const context = useSessionContext();
  const { id } = context;
  const state = useSessionState(id);
  const commands = useMemo((): Command[] => {
    const control = (
      name: 'pause' | 'resume' | 'stop' | 'restart',
      title: string,
      keys?: string,
    ) => ({
      id: `session.${name}`,
      title,
      group: 'Session',
      ...(keys && { keys }),
      run: () => attempt(() => client.sessions[name](id)),
    });
    const ended = state !== undefined && isEnded(state);
    return [
      ...(ended ? [control('restart', 'Restart this session')] : []),
      ...(ended ? [] : [control('stop', 'Stop this session', 'mod+shift+x')]),
      ...(state === 'paused'
        ? [control('resume', 'Resume this session', 'mod+shift+p')]
        : ended
          ? []
          : [control('pause', 'Pause this session', 'mod+shift+p')]),
      ...panelIds.map((panel, index) => ({
        id: `panel.${panel}`,
        title: `Show ${panelTitles[panel].toLowerCase()}`,
        group: 'Panels',
        keys: `alt+${index + 1}`,
        run: () => goToPanel(panel),
      })),
      {
        id: 'panels.reset',
        title: 'Put all panels back',
        group: 'Panels',
        run: () => useDock.getState().reset(),
      },
      {
        id: 'approval.allow',
        title: 'Allow what waits, once',
        group: 'Session',
        keys: 'y',
        run: () => answerFirst(id, 'approved'),
      },
      {
        id: 'approval.reject',
        title: 'Do not allow what waits',
        group: 'Session',
        keys: 'n',
        run: () => answerFirst(id, 'rejected'),
      },
      {
        id: 'message.write',
        title: 'Write to the agent',
        group: 'Session',
        keys: 'm',
        run: () => document.querySelector<HTMLElement>('#message')?.focus(),
      },
      {
        id: 'moment.live',
        title: 'Go to the live end',
        group: 'Timeline',
        keys: 'l',
        run: () => lookAt(context, null),
      },
    ];
  }, [context, id, state]);
  useCommands(commands);
}

/** Keys leave a terminal or an editor by this, which take Tab for themselves. */
function goToPanel(panel: PanelId): void {
  useDock.getState().show(panel);
  document.getElementById(`tab-${panel}`)?.focus();
}

/** Answers the question that has waited longest. */
function answerFirst(id: string, verdict: 'approved' | 'rejected'): void {
  const [request] = summaryNow(id)?.waitingFor ?? [];
  if (request) attempt(() => client.sessions.answer(id, request.id, { verdict }));
  else say('Nothing waits for you.');
}
