import { useMemo } from 'react';
import type { SessionSummary } from '@belay/protocol';
import { answerFirst } from '@/features/session-controls/answer-first';
import { archiveControl, runControl } from '@/features/session-controls/session-controls';
import { summaryNow } from '@/lib/summaries';
import { useCommands, type PaletteCommand } from '@/lib/commands';
import { fleetShortcuts } from '@/lib/shortcuts';
import { toast } from '@/lib/toasts';

type FleetKey = keyof typeof fleetShortcuts;

export function useFleetKeys(pick: (id: string) => void): void {
  const commands = useMemo(() => {
    const runs: Record<FleetKey, () => void> = {
      'fleet.next': () => step(1),
      'fleet.previous': () => step(-1),
      'fleet.pick': () => withFocused(({ id }) => pick(id)),
      'fleet.allow': () => withFocused((session) => answerFirst(session, 'approved')),
      'fleet.reject': () => withFocused((session) => answerFirst(session, 'rejected')),
      'fleet.archive': () => withFocused((session) => runControl(archiveControl(session), session)),
      'fleet.search': () => document.querySelector<HTMLElement>('#fleet-search')?.focus(),
    };
    return Object.entries(runs).map(([id, run]): PaletteCommand => ({
      ...fleetShortcuts[id as FleetKey],
      id,
      group: 'Fleet',
      ...(id in needsFocus && { offered: needsFocus[id as keyof typeof needsFocus] }),
      run,
    }));
  }, [pick]);
  useCommands(commands);
}

const isFocused = (wanted: (session: SessionSummary) => boolean) => () => {
  const session = focusedSession();
  return session !== undefined && wanted(session);
};
const isAsking = isFocused(({ waitingFor }) => waitingFor.length > 0);
const isAny = isFocused(() => true);

/** The commands on the focused session, which the palette offers only if there is one for them. */
const needsFocus = {
  'fleet.pick': isAny,
  'fleet.allow': isAsking,
  'fleet.reject': isAsking,
  'fleet.archive': isAny,
} satisfies Partial<Record<FleetKey, () => boolean>>;

/** Focuses the next rendered row; the virtual list renders a few rows beyond the visible ones. */
function step(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('a[data-session]')];
  const at = links.findIndex((link) => link === focusedLink());
  const next = at < 0 ? links[0] : links[at + by];
  next?.focus();
  next?.closest('article')?.scrollIntoView({ block: 'nearest' });
}

const focusedLink = () =>
  document.activeElement?.closest('article')?.querySelector<HTMLElement>('a[data-session]') ?? null;

const focusedSession = (): SessionSummary | undefined =>
  summaryNow(focusedLink()?.dataset['session'] ?? '');

function withFocused(work: (session: SessionSummary) => void): void {
  const session = focusedSession();
  if (session) work(session);
  else toast('Focus a session first: j and k move between them.');
}
