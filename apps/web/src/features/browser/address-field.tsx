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

/** An editable address. Use the address as the key, so that the text is reset when it changes. */
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
