import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { ignoreError, isEnded } from '@belay/protocol';
import { useCommands, type PaletteCommand } from '@/lib/commands';
import { usePreferences } from '@/lib/preferences';
import { usePhone } from '@/lib/use-phone';
import { live } from '@/lib/server';
import { toastError } from '@/lib/toasts';
import { useDark } from '@/lib/theme';
import { useReadOnly } from '@/lib/role';
import { useSessionState } from '@/lib/summaries';
import { useLiveState } from '@/lib/use-live-state';
import { showFile, usePanelLinks } from '@/lib/panel-links';
import { useCanAct } from '@/features/session-controls/use-can-act';
import { useIsPast, useLog, useSessionId, useView } from '@/features/session-log/session-context';
import { holderOf } from './terminal-control';
import { TerminalEmulator, type PanelSize } from './terminal-emulator';
import { SearchBar } from './search-bar';
import { sizeToFit } from './size-to-fit';
import '@xterm/xterm/css/xterm.css';

/** A terminal, live or as it was at the displayed moment. */
export function TerminalView({ name, inUse }: { name: string; inUse: boolean }) {
  const session = useSessionId();
  const element = useRef<HTMLDivElement>(null);
  const [screen, setScreen] = useState<TerminalEmulator | null>(null);
  const [searching, setSearching] = useState(false);
  const buffer = useLog((log) => log.terminals.get(name));
  const past = useIsPast();
  const upTo = useView((view) => view.printed.get(name) ?? 0);
  const holder = useView((view) => holderOf(view.terminals.get(name)));
  const size = usePreferences((state) => state.terminalSize);
  const dark = useDark();
  const [panelSize, setPanelSize] = useState<PanelSize | null>(null);
  const fixedColumns = useSize(name, { screen, panelSize });
  const shownSize =
    fixedColumns && panelSize ? sizeToFit(size, fixedColumns, panelSize.width) : size;
  const typing = useCanAct() && holder === 'user';

  useEffect(() => {
    if (!element.current) return;
    const made = new TerminalEmulator(element.current, {
      name,
      onFind: () => setSearching(true),
      onKeys: (data) =>
        live().request('terminal.keys', { session, terminal: name, data }).catch(toastError),
      onFit: setPanelSize,
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

  const target = usePanelLinks((links) => links.terminal);
  useEffect(() => {
    if (screen && buffer && target?.name === name && target.offset !== null)
      screen.scrollTo(buffer, target.offset);
  }, [screen, buffer, target, name]);
  const find = useCallback(() => setSearching(true), []);
  useCommands(useMemo(() => (inUse ? [findCommand(find)] : []), [inUse, find]));

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
 * A live terminal has the size of the smallest panel that shows it. Panels at a past moment, of an
 * ended session, on a phone or of a viewer do not count: they use the terminal’s columns, which are
 * returned. Null for panels that count.
 */
function useSize(
  name: string,
  { screen, panelSize }: { screen: TerminalEmulator | null; panelSize: PanelSize | null },
): number | null {
  const session = useSessionId();
  const state = useSessionState(session);
  const columns = useView((view) => view.terminals.get(name)?.columns);
  const rows = useView((view) => view.terminals.get(name)?.rows);
  const past = useIsPast();
  const phone = usePhone();
  const readOnly = useReadOnly();
  const connected = useLiveState() === 'live';
  const holder = useView((view) => holderOf(view.terminals.get(name)));
  const over = !state || (isEnded(state) && holder !== 'user');
  const fixed = past || phone || readOnly || over;
  const counts = connected && !fixed;
  useEffect(() => {
    const seen = fixed ? panelSize?.rows : undefined;
    if (columns && rows) screen?.resize(columns, seen ?? rows);
    else if (panelSize) screen?.resize(panelSize.columns, panelSize.rows);
  }, [screen, columns, rows, fixed, panelSize]);
  useEffect(() => {
    if (panelSize && counts) reportSize({ session, terminal: name, panelSize });
  }, [panelSize, counts, session, name]);
  useEffect(() => {
    if (counts) return () => reportSize({ session, terminal: name, panelSize: null });
    return undefined;
  }, [counts, session, name]);
  return fixed ? (columns ?? null) : null;
}

interface Fit {
  session: string;
  terminal: string;
  panelSize: PanelSize | null;
}

function reportSize({ panelSize, ...terminal }: Fit): void {
  const size = panelSize && { columns: panelSize.columns, rows: panelSize.rows };
  void live()
    .request('terminal.fit', { ...terminal, size })
    .catch(
      ignoreError(
        'it is sent again after a reconnect, or by the server when the agent opens the terminal',
      ),
    );
}

const findCommand = (run: () => void): PaletteCommand => ({
  id: 'terminal.find',
  title: 'Search the terminal',
  group: 'Panels',
  run,
});
