import { useState, type KeyboardEvent, type RefObject } from 'react';
import { clsx } from 'clsx';
import { VisibleText } from '@/components/ui/visible-text';
import { matching } from '@/lib/matching';
import { complete, tokenAt, type Token } from './completion';

interface CompletionsState {
  token: Token | null;
  words: readonly string[];
  commands: Commands;
  chosen: number;
  take(word: string): void;
  /** Whether the list handled the key. */
  onKeyDown(event: KeyboardEvent): boolean;
}

interface CompletionsOptions {
  text: string;
  setText(text: string): void;
  field: RefObject<HTMLTextAreaElement | null>;
  /** The paths that are offered after `@`. */
  files: readonly string[];
  /** The commands that are offered after `/`, with their titles. */
  commands?: Commands;
}

type Commands = Readonly<Record<string, { title: string }>>;
const noCommands: Commands = {};

/** Suggestions for the command after `/`, or the file after `@`, at the caret. */
export function useCompletions({
  text,
  setText,
  field,
  files,
  commands = noCommands,
}: CompletionsOptions): CompletionsState {
  const [closed, setClosed] = useState<string | null>(null);
  const [choice, setChoice] = useState({ text: '', index: 0 });
  const found = tokenAt(text, field.current?.selectionStart ?? text.length);
  const token = closed === text ? null : found;
  const all = token?.sign === '/' ? Object.keys(commands) : files;
  const words = token ? matching(all, token.text) : [];
  const chosen = choice.text === text ? choice.index : 0;

  const take = (word: string) => {
    if (!token) return;
    const next = complete(text, token, word);
    setText(next.text);
    setClosed(next.text);
    requestAnimationFrame(() => field.current?.setSelectionRange(next.caret, next.caret));
  };
  const onKeyDown = (event: KeyboardEvent): boolean => {
    const word = words[chosen];
    // With Ctrl or ⌘, Enter submits.
    if (word === undefined || event.ctrlKey || event.metaKey) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const typedWhole = event.key === 'Enter' && token?.text === word;
    if (step) setChoice({ text, index: (chosen + step + words.length) % words.length });
    else if (event.key === 'Escape') setClosed(text);
    else if ((event.key === 'Tab' || event.key === 'Enter') && !typedWhole) take(word);
    else return false;
    event.preventDefault();
    return true;
  };
  return { token, words, commands, chosen, take, onKeyDown };
}

interface CompletionsProps extends CompletionsState {
  /** Whether the list opens below the field instead of above it. */
  below?: boolean;
}

export function Completions(props: CompletionsProps) {
  const { token, words, commands, chosen, take, below = false } = props;
  if (!words.length || !token) return null;
  return (
    <ul
      role="listbox"
      aria-label={token.sign === '/' ? 'Commands' : 'Files'}
      className={clsx(
        'absolute right-3 left-3 z-20 rounded-md border border-line-strong bg-panel p-1',
        below ? 'top-full mt-1' : 'bottom-full mb-1',
      )}
    >
      {words.map((word, index) => (
        <li key={word} role="option" aria-selected={index === chosen}>
          <button
            type="button"
            tabIndex={-1}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(word)}
            className={clsx(
              'flex w-full justify-between gap-4 rounded-sm px-2 py-1 text-left text-sm',
              index === chosen && 'bg-hover',
            )}
          >
            <span className="truncate font-mono text-xs leading-5">
              <VisibleText text={token.sign + word} />
            </span>
            {token.sign === '/' && <span className="text-faint">{commands[word]?.title}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}
