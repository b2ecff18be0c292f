import { useEffect, useRef, useState } from 'react';
import { Search } from 'lucide-react';
import { clsx } from 'clsx';
import { Input } from './field';

interface SearchFieldProps {
  id?: string;
  label: string;
  placeholder: string;
  value: string | undefined;
  onChange(value: string | undefined): void;
  className?: string;
}

/** A field that filters a list while the user types; `undefined` when empty. */
export function SearchField({ value, onChange, className, label, ...rest }: SearchFieldProps) {
  const [text, setText] = useTyped(value);
  return (
    <div className={clsx('relative max-sm:w-full', className)}>
      <Search size={14} aria-hidden className="absolute top-2 left-2 text-faint" />
      <Input
        type="search"
        aria-label={label}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          onChange(target.value || undefined);
        }}
        className="pl-7"
        {...rest}
      />
    </div>
  );
}

/**
 * The text of a field whose `value` follows with a delay, as from the URL. Ignores values typed
 * here and adopts others, for example from a link or the browser’s back button.
 */
function useTyped(value: string | undefined) {
  const [text, setText] = useState(value ?? '');
  const sent = useRef<string[]>([]);
  useEffect(() => {
    const now = value ?? '';
    const at = sent.current.lastIndexOf(now);
    if (at < 0) setText(now);
    else sent.current.splice(0, at + 1);
  }, [value]);
  const type = (next: string) => {
    sent.current.push(next);
    setText(next);
  };
  return [text, type] as const;
}
