import type { KeyboardEvent } from 'react';
import { ArrowDown, ArrowUp, X } from 'lucide-react';
import { Input } from './field';
import { IconButton } from './icon-button';

export type FindDirection = 'previous' | 'next';

interface FindBarProps {
  label: string;
  text: string;
  onText(text: string): void;
  /** How many matches there are, for example `2 of 5`. */
  status: string;
  /** Enter and the arrow keys also step: a search begins at the newest match. */
  onStep(direction: FindDirection): void;
  onClose(): void;
}

/** A search in a panel, over its upper right corner. Esc closes it. */
export function FindBar({ label, text, onText, status, onStep, onClose }: FindBarProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose();
    else if (event.key === 'ArrowUp') onStep('previous');
    else if (event.key === 'ArrowDown') onStep('next');
    else if (event.key === 'Enter' && event.target instanceof HTMLInputElement)
      onStep(event.shiftKey ? 'next' : 'previous');
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      role="search"
      className="absolute top-1 right-4 z-10 flex items-center gap-0.5 rounded-md border border-line-strong bg-panel p-1"
      onKeyDown={onKeyDown}
    >
      <Input
        autoFocus
        aria-label={label}
        placeholder="Search"
        value={text}
        onChange={(event) => onText(event.target.value)}
        className="h-6 w-44"
      />
      <span role="status" className="w-20 text-center text-xs text-faint tabular-nums">
        {text && status}
      </span>
      <IconButton
        label="Previous match"
        icon={ArrowUp}
        className="size-6"
        onClick={() => onStep('previous')}
      />
      <IconButton
        label="Next match"
        icon={ArrowDown}
        className="size-6"
        onClick={() => onStep('next')}
      />
      <IconButton label="Close search" icon={X} className="size-6" onClick={onClose} />
    </div>
  );
}
