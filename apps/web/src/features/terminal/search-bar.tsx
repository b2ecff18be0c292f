import { useEffect, useState } from 'react';
import { FindBar, type FindDirection } from '@/components/ui/find-bar';
import type { TerminalEmulator } from './terminal-emulator';

export function SearchBar({ screen, onClose }: { screen: TerminalEmulator; onClose(): void }) {
  const [text, setText] = useState('');
  const [found, setFound] = useState({ place: 0, count: 0 });
  useEffect(() => screen.onFound((place, count) => setFound({ place, count })), [screen]);
  const find = (wanted: string, direction: FindDirection) => screen.find(wanted, direction);
  return (
    <FindBar
      label="Search the terminal"
      text={text}
      onText={(next) => {
        setText(next);
        find(next, 'previous');
      }}
      status={foundText(found)}
      onStep={(direction) => find(text, direction)}
      onClose={() => {
        screen.endSearch();
        onClose();
      }}
    />
  );
}

/** xterm stops counting matches here. */
const mostCounted = 1_000;

function foundText({ place, count }: { place: number; count: number }): string {
  if (count === 0) return 'No matches';
  const all = count >= mostCounted ? `${mostCounted}+` : String(count);
  return place > 0 ? `${place} of ${all}` : all;
}
