import { useState } from 'react';
import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { Input } from '@/components/ui/field';
import { IconButton } from '@/components/ui/icon-button';
import type { Screen } from './screen';

export function SearchBar({ screen, onClose }: { screen: Screen; onClose(): void }) {
  const [text, setText] = useState('');
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
      <IconButton
        label="Earlier"
        icon={ArrowUp}
        className="size-6"
        onClick={() => screen.find(text, 'previous')}
      />
      <IconButton
        label="Later"
        icon={ArrowDown}
        className="size-6"
        onClick={() => screen.find(text, 'next')}
      />
      <IconButton label="Close the search" icon={X} className="size-6" onClick={close} />
    </form>
  );
}
