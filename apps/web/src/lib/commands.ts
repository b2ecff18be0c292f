import { useEffect } from 'react';
import { flushSync } from 'react-dom';
import { create } from 'zustand';
import { createMatcher, formatKeys, parseKeys, strokeOf, writeStroke } from '@/lib/keys';
import { usePreferences } from '@/lib/preferences';

/** A command that can be run from the palette or by a shortcut. */
export interface PaletteCommand {
  id: string;
  title: string;
  group: string;
  /** The default shortcut. */
  keys?: string;
  /** Its shortcut counts only while this or nothing has the focus; a selector. */
  within?: string;
  /** Whether it can run on what is focused now; always when omitted. */
  offered?(): boolean;
  run(): void;
}

interface Commands {
  commands: ReadonlyMap<string, PaletteCommand>;
  /** What the open palette offers, everything or only files; null while it is closed. */
  palette: 'all' | 'files' | null;
  /** What was focused before it opened. */
  focused: Element | null;
  /** The files of the current session. */
  files: { paths: readonly string[]; open(path: string): void } | null;
}

export const useCommandList = create<Commands>()(() => ({
  commands: new Map(),
  palette: null,
  focused: null,
  files: null,
}));

export const openPalette = (palette: 'all' | 'files'): void =>
  // While it is open, its own field has the focus.
  useCommandList.setState((now) => ({
    palette,
    focused: now.palette === null ? document.activeElement : now.focused,
  }));

/** Also gives the focus back; at once, so that a command can run on it. */
export function closePalette(): void {
  const { focused } = useCommandList.getState();
  flushSync(() => useCommandList.setState({ palette: null }));
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
}

/** The commands that can run on what is focused now. */
export const offeredCommands = (): PaletteCommand[] =>
  [...useCommandList.getState().commands.values()].filter(({ offered }) => offered?.() ?? true);

/** Registers commands while a component is mounted. Memoize the list. */
export function useCommands(list: readonly PaletteCommand[]): void {
  useEffect(() => {
    useCommandList.setState(({ commands }) => ({
      commands: new Map([...commands, ...list.map((each) => [each.id, each] as const)]),
    }));
    return () =>
      useCommandList.setState(({ commands }) => {
        const left = new Map(commands);
        for (const each of list) if (left.get(each.id) === each) left.delete(each.id);
        return { commands: left };
      });
  }, [list]);
}

/** The shortcut of a command with the user’s changes; empty if it has none. */
export const keysOf = (
  command: Pick<PaletteCommand, 'id' | 'keys'>,
  chosen: Record<string, string>,
) => chosen[command.id] ?? command.keys ?? '';

/** The formatted shortcut of a registered command; empty if it has none. */
export function useShortcut(id: string): string {
  const command = useCommandList(({ commands }) => commands.get(id));
  const chosen = usePreferences(({ keys }) => keys);
  return command ? formatKeys(keysOf(command, chosen)) : '';
}

/** Runs commands by their shortcuts. Ignores keys without Ctrl/⌘ or Alt while the user types. */
export function listenForKeys(): () => void {
  const match = createMatcher();
  const listen = (event: KeyboardEvent) => {
    const stroke = strokeOf(event);
    if (event.defaultPrevented || event.isComposing) return;
    if (!stroke.mod && !stroke.alt && isTyping(event.target)) return;
    const { commands } = useCommandList.getState();
    const counting = [...commands.values()].filter((command) => isWithin(command, event.target));
    const id = match(stroke, bindings(counting));
    if (!id) return;
    event.preventDefault();
    commands.get(id)?.run();
  };
  document.addEventListener('keydown', listen);
  return () => document.removeEventListener('keydown', listen);
}

const isWithin = ({ within }: PaletteCommand, target: EventTarget | null): boolean =>
  within === undefined ||
  target === document.body ||
  (target instanceof Element && target.closest(within) !== null);

function bindings(commands: Iterable<PaletteCommand>): Map<string, string> {
  const { keys } = usePreferences.getState();
  const bound = new Map<string, string>();
  for (const command of commands) {
    const strokes = parseKeys(keysOf(command, keys));
    if (strokes) bound.set(strokes.map(writeStroke).join(' '), command.id);
  }
  return bound;
}

/** Includes elements that are text boxes only by role, as in the editor; excludes check boxes. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    target.matches(
      'input:not([type=checkbox]), textarea, select, [role=textbox], [role=application]',
    ));
