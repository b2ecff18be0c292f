import { Plus, X } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { Input } from '@/components/ui/field';
import { IconButton } from '@/components/ui/icon-button';
import type { SecretField } from './secret-fields';

interface SecretRowsProps {
  title: string;
  /** The noun for one entry, such as “header”. */
  what: string;
  value: readonly SecretField[];
  onChange(value: readonly SecretField[]): void;
}

/** A list of names with secret values, which can be set but are never shown. */
export function SecretRows({ title, what, value: secrets, onChange }: SecretRowsProps) {
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1 text-sm font-medium">{title}</legend>
      {secrets.map(({ name, value }, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- a name changes while it is typed
        <div key={index} className="flex items-center gap-2">
          <Input
            aria-label={`Name of the ${what}`}
            placeholder="Name"
            required
            className="w-2/5 font-mono text-xs"
            value={name}
            disabled={value === null}
            onChange={({ target }) => onChange(secrets.with(index, { name: target.value, value }))}
          />
          <Input
            aria-label={`Value of ${name || `the ${what}`}`}
            type="password"
            autoComplete="off"
            className="w-3/5 min-w-0"
            placeholder={value === null ? 'Saved; enter a new value to replace it' : 'Value'}
            value={value ?? ''}
            onChange={({ target }) => onChange(secrets.with(index, { name, value: target.value }))}
          />
          <IconButton
            label={`Remove ${name || `the ${what}`}`}
            icon={X}
            onClick={() => onChange(secrets.toSpliced(index, 1))}
          />
        </div>
      ))}
      <Button small onClick={() => onChange([...secrets, { name: '', value: '' }])}>
        <Plus size={13} aria-hidden /> Add a {what}
      </Button>
    </fieldset>
  );
}
