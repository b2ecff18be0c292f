import { useMemo } from 'react';
import type { SessionSummary } from '@belay/protocol';
import { queryClient } from '@/lib/query';
import { useCommands, type Command } from '@/lib/commands';
import { client } from '@/lib/server';
import { attempt, say } from '@/lib/toasts';
import { sessionsQuery } from './queries';

/** The keys of the fleet. They work on the row that has the focus; Enter opens it, as it is a link. */
export const fleetKeys = [
  { id: 'fleet.next', title: 'Next session', keys: 'j' },
  { id: 'fleet.previous', title: 'Previous session', keys: 'k' },
  { id: 'fleet.pick', title: 'Pick the session', keys: 'x' },
  { id: 'fleet.allow', title: 'Allow what the session asks, once', keys: 'y' },
  { id: 'fleet.reject', title: 'Do not allow what the session asks', keys: 'n' },
  { id: 'fleet.archive', title: 'Archive the session', keys: 'e' },
  { id: 'fleet.search', title: 'Filter and search', keys: '/' },
] as const satisfies Pick<Command, 'id' | 'title' | 'keys'>[];

type FleetKey = (typeof fleetKeys)[number]['id'];

export function useFleetKeys(pick: (id: string) => void): void {
  const commands = useMemo(() => {
    const runs: Record<FleetKey, () => void> = {
      'fleet.next': () => step(1),
      'fleet.previous': () => step(-1),
      'fleet.pick': () => withFocused(({ id }) => pick(id)),
      'fleet.allow': () => withFocused((session) => answer(session, 'approved')),
      'fleet.reject': () => withFocused((session) => answer(session, 'rejected')),
      'fleet.archive': () =>
        withFocused(({ id, archived }) =>
          attempt(
            () => client.sessions.change(id, { archived: !archived }),
            archived ? 'Taken out of the archive.' : 'Archived.',
          ),
        ),
      'fleet.search': () => document.querySelector<HTMLElement>('#fleet-search')?.focus(),
    };
    return fleetKeys.map((key): Command => ({ ...key, group: 'Fleet', run: runs[key.id] }));
  }, [pick]);
  useCommands(commands);
}

/** Goes to the next row that is drawn; the list draws some more than are seen. */
function step(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('a[data-session]')];
  const at = links.findIndex((link) => link === focusedLink());
  const next = at < 0 ? links[0] : links[at + by];
  next?.focus();
  next?.closest('article')?.scrollIntoView({ block: 'nearest' });
}

const focusedLink = () =>
  document.activeElement?.closest('article')?.querySelector<HTMLElement>('a[data-session]') ?? null;

function withFocused(work: (session: SessionSummary) => void): void {
  const id = focusedLink()?.dataset['session'];
  const session = queryClient.getQueryData(sessionsQuery.queryKey)?.find((each) => each.id === id);
  if (session) work(session);
  else say('Go to a session first: j and k move through them.');
}

function answer({ id, waitingFor: [request] }: SessionSummary, verdict: 'approved' | 'rejected') {
  if (request) attempt(() => client.sessions.answer(id, request.id, { verdict }));
  else say('This session asks for nothing.');
}
