import { useState, type KeyboardEvent } from 'react';
import { Button } from '@/components/ui/button';
import { keysOf, useCommandList, type Command } from '@/lib/commands';
import { formatKeys, strokeOf, writeStroke } from '@/lib/keys';
import { usePreferences } from '@/lib/preferences';
import { say } from '@/lib/toasts';
import { panelIds } from '../sessions/dock-store';
import { fleetKeys } from '../sessions/fleet-keys';
import { panelTitles } from '../sessions/panel-titles';

type Bound = Pick<Command, 'id' | 'title' | 'keys'>;

/** Commands of other pages are not offered on this one, yet their keys can be chosen here. */
const elsewhere: Record<string, readonly Bound[]> = {
  Fleet: fleetKeys,
  Session: [
    { id: 'session.pause', title: 'Pause this session', keys: 'mod+shift+p' },
    { id: 'session.stop', title: 'Stop this session', keys: 'mod+shift+x' },
    { id: 'approval.allow', title: 'Allow what waits, once', keys: 'y' },
    { id: 'approval.reject', title: 'Do not allow what waits', keys: 'n' },
    { id: 'message.write', title: 'Write to the agent', keys: 'm' },
    { id: 'moment.live', title: 'Go to the live end', keys: 'l' },
  ],
  Panels: panelIds.map((panel, index) => ({
    id: `panel.${panel}`,
    title: `Show ${panelTitles[panel].toLowerCase()}`,
    keys: `alt+${index + 1}`,
  })),
};

export function ShortcutSettings() {
  const commands = useCommandList((state) => state.commands);
  const { keys, set } = usePreferences();
  const here = [...commands.values()].filter((command) => command.keys ?? keys[command.id]);
  const groups = Object.entries({ Everywhere: here, ...elsewhere });
  /** The fleet and a session are never on one page, so they may have the same keys. */
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
    for (const { title } of lost) say(`“${title}” had these keys and has none now.`);
  };
  return (
    <div className="space-y-5">
      <p className="text-sm text-muted">
        Press a shortcut to change it, then the new keys; Backspace takes them away.
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
        Put all shortcuts back
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
      aria-label={`Shortcut of ${label}: ${formatKeys(keys) || 'none'}`}
      onClick={() => setListening(true)}
      onBlur={() => setListening(false)}
      onKeyDown={onKeyDown}
      className="min-w-20 rounded-md border border-line-strong px-2 py-0.5 font-mono text-xs hover:bg-hover"
    >
      {listening ? 'press keys…' : formatKeys(keys) || '—'}
    </button>
  );
}
