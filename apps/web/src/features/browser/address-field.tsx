import { useState } from 'react';
import { Input } from '@/components/ui/field';

interface AddressFieldProps {
  label: string;
  address: string;
  disabled: boolean;
  title?: string;
  placeholder?: string;
  onGo(address: string): void;
}

/** The address of a page, to be edited and gone to. Give it the address as its key. */
export function AddressField({ label, address, onGo, ...field }: AddressFieldProps) {
  const [text, setText] = useState(address);
  return (
    <form
      className="min-w-0 flex-1"
      onSubmit={(event) => {
        event.preventDefault();
        onGo(text.trim());
      }}
    >
      <Input
        {...field}
        aria-label={label}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="h-6 truncate border-transparent bg-sunken font-mono text-xs disabled:opacity-100"
      />
    </form>
  );
}
