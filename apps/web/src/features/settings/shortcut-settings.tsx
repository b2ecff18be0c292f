import { useState, type KeyboardEvent } from 'react';
import { Button } from '@/components/ui/button';
import { keysOf, useCommandList, type Command } from '@/lib/commands';
import { formatKeys, strokeOf, writeStroke } from '@/lib/keys';
import { usePreferences } from '@/lib/preferences';
import { panelIds } from '../sessions/dock-store';
import { panelTitles } from '../sessions/panel-titles';

/** Commands of a session are not offered on this page, yet their keys can be chosen here. */
const elsewhere: Pick<Command, 'id' | 'title' | 'keys'>[] = [
  { id: 'session.pause', title: 'Pause this session', keys: 'mod+shift+p' },
  { id: 'session.stop', title: 'Stop this session', keys: 'mod+shift+x' },
  { id: 'approval.allow', title: 'Allow what waits, once', keys: 'y' },
  { id: 'approval.reject', title: 'Do not allow what waits', keys: 'n' },
  { id: 'message.write', title: 'Write to the agent', keys: 'm' },
  { id: 'moment.live', title: 'Go to the live end', keys: 'l' },
  ...panelIds.map((panel, index) => ({
    id: `panel.${panel}`,
    title: `Show ${panelTitles[panel].toLowerCase()}`,
    keys: `alt+${index + 1}`,
  })),
];

export function ShortcutSettings() {
  const commands = useCommandList((state) => state.commands);
  const { keys, set } = usePreferences();
  const here = [...commands.values()].filter((command) => command.keys ?? keys[command.id]);
  return (
    <div>
      <p className="mb-3 text-sm text-muted">Press a shortcut to change it, then the new keys.</p>
      <ul className="divide-y rounded-md border bg-panel">
        {[...here, ...elsewhere].map((command) => (
          <li
            key={command.id}
            className="flex items-center justify-between gap-4 px-3 py-1.5 text-sm"
          >
            {command.title}
            <KeyField
              label={command.title}
              keys={keysOf(command, keys)}
              onChange={(next) => set({ keys: { ...keys, [command.id]: next } })}
            />
          </li>
        ))}
      </ul>
      <Button small look="ghost" className="mt-3" onClick={() => set({ keys: {} })}>
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
