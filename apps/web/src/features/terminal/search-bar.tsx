import { useEffect, useState } from 'react';
import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { Input } from '@/components/ui/field';
import { IconButton } from '@/components/ui/icon-button';
import type { TerminalEmulator } from './terminal-emulator';

export function SearchBar({ screen, onClose }: { screen: TerminalEmulator; onClose(): void }) {
  const [text, setText] = useState('');
  const [found, setFound] = useState({ place: 0, count: 0 });
  useEffect(() => screen.onFound((place, count) => setFound({ place, count })), [screen]);
  const close = () => {
    screen.endSearch();
    onClose();
  };
  return (
    <form
      role="search"
      className="absolute top-1 right-4 z-10 flex items-center gap-0.5 rounded-md border border-line-strong bg-panel p-1"
      onSubmit={(event) => {
        event.preventDefault();
        screen.find(text, 'previous');
      }}
      onKeyDown={(event) => event.key === 'Escape' && close()}
    >
      <Input
        autoFocus
        aria-label="Search the terminal"
        placeholder="Search"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          screen.find(event.target.value, 'previous');
        }}
        className="h-6 w-44"
      />
      <span role="status" className="w-20 text-center text-xs text-faint tabular-nums">
        {text && foundText(found)}
      </span>
      <IconButton
        label="Previous match"
        icon={ArrowUp}
        className="size-6"
        onClick={() => screen.find(text, 'previous')}
      />
      <IconButton
        label="Next match"
        icon={ArrowDown}
        className="size-6"
        onClick={() => screen.find(text, 'next')}
      />
      <IconButton label="Close search" icon={X} className="size-6" onClick={close} />
    </form>
  );
}

/** xterm stops counting matches here. */
const mostCounted = 1_000;

function foundText({ place, count }: { place: number; count: number }): string {
  if (count === 0) return 'No matches';
  const all = count >= mostCounted ? `${mostCounted}+` : String(count);
  return place > 0 ? `${place} of ${all}` : all;
}
