import { Plus, X } from 'lucide-react';
import { Button } from '@/components/ui/button';
import { Input } from '@/components/ui/field';
import { IconButton } from '@/components/ui/icon-button';
import { newSecret, type Secret } from './mcp-fields';

interface SecretRowsProps {
  /** What one of them is, such as “header”. */
  what: string;
  secrets: readonly Secret[];
  onChange(secrets: readonly Secret[]): void;
}

/** Names with values that are written and never shown again. */
export function SecretRows({ what, secrets, onChange }: SecretRowsProps) {
  const change = (changed: Secret) =>
    onChange(secrets.map((secret) => (secret.key === changed.key ? changed : secret)));
  return (
    <div className="space-y-2">
      {secrets.map((secret) => (
        <div key={secret.key} className="flex items-center gap-2">
          <Input
            aria-label={`Name of the ${what}`}
            placeholder="Name"
            required
            className="w-2/5 font-mono text-xs"
            value={secret.name}
            disabled={secret.value === null}
            onChange={({ target }) => change({ ...secret, name: target.value })}
          />
          <Input
            aria-label={secret.name ? `Value of ${secret.name}` : `Value of the ${what}`}
            type="password"
            autoComplete="off"
            className="w-3/5 min-w-0"
            placeholder={secret.value === null ? 'Saved; enter a new value to replace it' : 'Value'}
            value={secret.value ?? ''}
            onChange={({ target }) => change({ ...secret, value: target.value })}
          />
          <IconButton
            label={secret.name ? `Remove ${secret.name}` : `Remove the ${what}`}
            icon={X}
            onClick={() => onChange(secrets.filter(({ key }) => key !== secret.key))}
          />
        </div>
      ))}
      <Button small onClick={() => onChange([...secrets, newSecret()])}>
        <Plus size={13} aria-hidden /> Add a {what}
      </Button>
    </div>
  );
}
