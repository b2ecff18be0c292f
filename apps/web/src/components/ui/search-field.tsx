import { Search } from 'lucide-react';
import { cx } from '@/lib/classes';
import { Input } from './field';

interface SearchFieldProps {
  label: string;
  placeholder: string;
  value: string | undefined;
  onChange(value: string | undefined): void;
  className?: string;
}

/** A field that narrows a list as one types; empty is undefined. */
export function SearchField({ label, placeholder, value, onChange, className }: SearchFieldProps) {
  return (
    <div className={cx('relative max-sm:w-full', className)}>
      <Search size={14} aria-hidden className="absolute top-2 left-2 text-faint" />
      <Input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        defaultValue={value ?? ''}
        onChange={(event) => onChange(event.target.value || undefined)}
        className="pl-7"
      />
    </div>
  );
}
