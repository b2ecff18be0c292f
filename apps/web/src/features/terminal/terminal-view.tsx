import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { isEnded } from '@belay/protocol';
import { useCommands, type Command } from '@/lib/commands';
import { usePreferences } from '@/lib/preferences';
import { usePhone } from '@/lib/media';
import { live } from '@/lib/server';
import { sayError } from '@/lib/toasts';
import { useDark } from '@/lib/theme';
import { useReadOnly } from '@/lib/role';
import { useLiveState, useSessionState } from '../sessions/queries';
import { showFile, usePlaces } from '../sessions/places';
import { useActs } from '../sessions/use-acts';
import { useIsPast, useLog, useSessionId, useView } from '../sessions/session-context';
import { Screen, type Room } from './screen';
import { SearchBar } from './search-bar';
import { sizeToFit } from './text-size';
import '@xterm/xterm/css/xterm.css';

/** One terminal as it is, or as it was at the moment looked at. */
export function TerminalView({ name }: { name: string }) {
  const session = useSessionId();
  const element = useRef<HTMLDivElement>(null);
  const [screen, setScreen] = useState<Screen | null>(null);
  const [searching, setSearching] = useState(false);
  const buffer = useLog((log) => log.terminals.get(name));
  const past = useIsPast();
  const upTo = useView((view) => view.terminalEnds.get(name) ?? 0);
  const holder = useView((view) => view.terminals.get(name)?.holder ?? 'agent');
  const size = usePreferences((state) => state.terminalSize);
  const dark = useDark();
  const [room, setRoom] = useState<Room | null>(null);
  const fixedColumns = useSize(name, { screen, room });
  const shownSize = fixedColumns && room ? sizeToFit(size, fixedColumns, room.width) : size;
  const typing = useActs() && holder === 'user';

  useEffect(() => {
    if (!element.current) return;
    const made = new Screen(element.current, {
      name,
      onFind: () => setSearching(true),
      onKeys: (data) =>
        live().request('terminal.keys', { session, terminal: name, data }).catch(sayError),
      onFit: setRoom,
      onFile: ({ path, line }) => showFile(path, line),
    });
    setScreen(made);
    return () => made.dispose();
  }, [session, name]);

  useEffect(() => screen?.style({ dark, size: shownSize }), [screen, dark, shownSize]);
  useEffect(() => screen?.setTyping(typing), [screen, typing]);
  useEffect(() => {
    if (!screen || !buffer || past) return;
    screen.showUpTo(buffer, buffer.end);
    return buffer.listen((bytes, offset) => screen.append(bytes, offset));
  }, [screen, buffer, past]);
  useEffect(() => {
    if (screen && buffer && past) screen.showUpTo(buffer, upTo);
  }, [screen, buffer, past, upTo]);

  const place = usePlaces((places) => places.terminal);
  useEffect(() => {
    if (screen && buffer && place?.name === name && place.offset !== null)
      screen.scrollTo(buffer, place.offset);
  }, [screen, buffer, place, name]);
  const find = useCallback(() => setSearching(true), []);
  useCommands(useMemo(() => [findCommand(find)], [find]));

  return (
    <div className="relative h-full">
      {searching && screen && <SearchBar screen={screen} onClose={() => setSearching(false)} />}
      <div className="h-full py-1.5 pl-2.5">
        <div ref={element} className="h-full overflow-auto contain-strict" data-terminal={name} />
      </div>
    </div>
  );
}

/**
 * A live terminal is as large as the smallest panel among those that show it; one of the past, one of an
 * ended session, one on a phone and one that only watches do not count. Of those it answers the columns.
 */
function useSize(
  name: string,
  { screen, room }: { screen: Screen | null; room: Room | null },
): number | null {
  const session = useSessionId();
  const state = useSessionState(session);
  const columns = useView((view) => view.terminals.get(name)?.columns);
  const rows = useView((view) => view.terminals.get(name)?.rows);
  const past = useIsPast();
  const phone = usePhone();
  const readOnly = useReadOnly();
  const connected = useLiveState() === 'live';
  const fixed = past || phone || readOnly || !state || isEnded(state);
  const counts = connected && !fixed;
  useEffect(() => {
    const seen = fixed ? room?.rows : undefined;
    if (columns && rows) screen?.resize(columns, seen ?? rows);
    else if (room) screen?.resize(room.columns, room.rows);
  }, [screen, columns, rows, fixed, room]);
  useEffect(() => {
    if (room && counts) tellRoom({ session, terminal: name, room });
  }, [room, counts, session, name]);
  useEffect(() => {
    if (counts) return () => tellRoom({ session, terminal: name, room: null });
    return undefined;
  }, [counts, session, name]);
  return fixed ? (columns ?? null) : null;
}

interface Fit {
  session: string;
  terminal: string;
  room: Room | null;
}

/** What fails is told again: when the connection is back, or by the server when the agent is. */
function tellRoom({ room, ...terminal }: Fit): void {
  const size = room && { columns: room.columns, rows: room.rows };
  void live()
    .request('terminal.fit', { ...terminal, room: size })
    .catch(() => undefined);
}

const findCommand = (run: () => void): Command => ({
  id: 'terminal.find',
  title: 'Search the terminal',
  group: 'Panels',
  run,
});
