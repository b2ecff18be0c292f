import { useMemo } from 'react';
import type { SessionState } from '@belay/protocol';
import { openChatFind } from '@/features/chat/find/chat-find';
import { answerFirst } from '@/features/session-controls/answer-first';
import { runControl, sessionControls } from '@/features/session-controls/session-controls';
import {
  lookAt,
  useSessionContext,
  type SessionContext,
} from '@/features/session-log/session-context';
import { askShare } from '@/features/session-controls/share-request';
import { summaryNow, useSessionState } from '@/lib/summaries';
import { openPalette, useCommands, type PaletteCommand } from '@/lib/commands';
import { panelIds, type PanelId } from '@/lib/panels';
import { panelShortcut, sessionShortcuts } from '@/lib/shortcuts';
import { attempt } from '@/lib/toasts';
import { askForkHere } from './ask-fork-here';
import { useDock } from './dock-store';

/** The commands of a session for the palette and shortcuts. */
export function useSessionCommands(): void {
  const context = useSessionContext();
  const state = useSessionState(context.id);
  const commands = useMemo(
    () => [...controls(context.id, state), ...panelCommands, ...logCommands(context)],
    [context, state],
  );
  useCommands(commands);
}

const { pause, resume, stop, restart } = sessionControls;

/** Pause and resume share a shortcut, since they are never offered together. */
const offeredByKeys = {
  pause: { control: pause, keys: sessionShortcuts['session.pause'].keys },
  resume: { control: resume, keys: sessionShortcuts['session.pause'].keys },
  stop: { control: stop, keys: sessionShortcuts['session.stop'].keys },
  restart: { control: restart, keys: '' },
};

function controls(id: string, state: SessionState | undefined): PaletteCommand[] {
  if (!state) return [];
  return Object.entries(offeredByKeys)
    .filter(([, { control }]) => control.offered({ state, archived: false }))
    .map(([name, { control, keys }]) => ({
      id: `session.${name}`,
      title: `${control.label} this session`,
      group: 'Session',
      keys,
      run: () => runControl(control, summaryNow(id)),
    }));
}

const panelCommands: readonly PaletteCommand[] = [
  ...panelIds.map((panel) => ({
    ...panelShortcut(panel),
    group: 'Panels',
    run: () => goToPanel(panel),
  })),
  {
    id: 'panels.reset',
    title: 'Reset layout',
    group: 'Panels',
    run: () => useDock.getState().reset(),
  },
];

function logCommands(context: SessionContext): PaletteCommand[] {
  const command = (
    id: keyof typeof sessionShortcuts,
    group: string,
    run: () => void,
  ): PaletteCommand => ({
    ...sessionShortcuts[id],
    id,
    group,
    run,
  });
  return [
    command('approval.allow', 'Session', () => answerFirst(summaryNow(context.id), 'approved')),
    command('approval.reject', 'Session', () => answerFirst(summaryNow(context.id), 'rejected')),
    command('message.write', 'Session', () =>
      document.querySelector<HTMLElement>('#message')?.focus(),
    ),
    { ...command('chat.find', 'Session', findInChat), within: '[data-find=chat]' },
    command('moment.live', 'Timeline', () => lookAt(context, null)),
    command('session.fork', 'Session', () => askForkHere(context)),
    command('session.share', 'Session', () => askShare(summaryNow(context.id))),
    command('files.open', 'Go', () => openPalette('files')),
    command('moment.link', 'Timeline', () => attempt(() => copyLink(context), 'Link copied.')),
  ];
}

function findInChat(): void {
  useDock.getState().show('chat');
  openChatFind();
}

/** Also moves the focus, so that the keyboard can leave a terminal or editor, which handle Tab. */
function goToPanel(panel: PanelId): void {
  useDock.getState().show(panel);
  document.getElementById(`tab-${panel}`)?.focus();
}

/** Copies a link to the displayed moment, or to the latest event at the live end. */
async function copyLink({ id, moment, log }: SessionContext): Promise<void> {
  const at = moment.getState().at ?? log.getState().view.lastSeq;
  await navigator.clipboard.writeText(`${location.origin}/sessions/${id}?at=${at}`);
}
