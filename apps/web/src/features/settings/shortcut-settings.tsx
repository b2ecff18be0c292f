import { useState, type KeyboardEvent } from 'react';
import { Button } from '@/components/ui/button';
import { keysOf, useCommandList, type PaletteCommand } from '@/lib/commands';
import { formatKeys, strokeOf, writeStroke } from '@/lib/keys';
import { panelIds } from '@/lib/panels';
import { usePreferences } from '@/lib/preferences';
import { fleetShortcuts, panelShortcut, sessionShortcuts } from '@/lib/shortcuts';
import { toast } from '@/lib/toasts';

type Bound = Pick<PaletteCommand, 'id' | 'title' | 'keys'>;

/** Commands of other pages, which are not registered here but whose shortcuts can be changed. */
const elsewhere: Record<string, readonly Bound[]> = {
  Fleet: listOf(fleetShortcuts),
  Session: listOf(sessionShortcuts),
  Panels: panelIds.map(panelShortcut),
};

function listOf(shortcuts: Record<string, Omit<Bound, 'id'>>): Bound[] {
  return Object.entries(shortcuts).map(([id, shortcut]) => ({ id, ...shortcut }));
}

export function ShortcutSettings() {
  const commands = useCommandList((state) => state.commands);
  const { keys, set } = usePreferences();
  const here = [...commands.values()].filter((command) => command.keys ?? keys[command.id]);
  const groups = Object.entries({ Everywhere: here, ...elsewhere });
  /**
   * Takes the shortcut away from other commands. The fleet and a session are never shown together,
   * so they may share shortcuts.
   */
  const choose = (group: string, command: Bound, next: string) => {
    const rivals = groups
      .filter(
        ([name]) =>
          (name === 'Fleet') === (group === 'Fleet') || [name, group].includes('Everywhere'),
      )
      .flatMap(([, list]) => list);
    const lost = rivals.filter(
      (other) => next && other.id !== command.id && keysOf(other, keys) === next,
    );
    set({
      keys: { ...keys, ...Object.fromEntries(lost.map(({ id }) => [id, ''])), [command.id]: next },
    });
    for (const { title } of lost) toast(`“${title}” had these keys and now has no shortcut.`);
  };
  return (
    <div className="space-y-5">
      <p className="text-sm text-muted">
        Click a shortcut, then press the new keys; Backspace clears it.
      </p>
      {groups.map(([group, list]) => (
        <section key={group} aria-label={group}>
          <h2 className="mb-1.5 text-sm font-medium">{group}</h2>
          <ul className="divide-y rounded-md border bg-panel">
            {list.map((command) => (
              <li
                key={command.id}
                className="flex items-center justify-between gap-4 px-3 py-1.5 text-sm"
              >
                {command.title}
                <KeyField
                  label={command.title}
                  keys={keysOf(command, keys)}
                  onChange={(next) => choose(group, command, next)}
                />
              </li>
            ))}
          </ul>
        </section>
      ))}
      <Button small onClick={() => set({ keys: {} })}>
        Reset all shortcuts
      </Button>
    </div>
  );
}

interface KeyFieldProps {
  label: string;
  keys: string;
  onChange(keys: string): void;
}

function KeyField({ label, keys, onChange }: KeyFieldProps) {
  const [listening, setListening] = useState(false);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!listening || ['Control', 'Shift', 'Alt', 'Meta'].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    setListening(false);
    if (event.key === 'Backspace') onChange('');
    else if (event.key !== 'Escape' && event.key !== 'Tab')
      onChange(writeStroke(strokeOf(event.nativeEvent)));
  };
  return (
    <button
      type="button"
      aria-label={`Shortcut for ${label}: ${formatKeys(keys) || 'none'}`}
      onClick={() => setListening(true)}
      onBlur={() => setListening(false)}
      onKeyDown={onKeyDown}
      className="min-w-20 rounded-md border border-line-strong px-2 py-0.5 font-mono text-xs hover:bg-hover"
    >
      {listening ? 'press keys…' : formatKeys(keys) || '—'}
    </button>
  );
}
