import type { Scope } from '@belay/protocol';
import { SelectField, TextField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { client } from '@/lib/server';
import { useForm } from '@/lib/use-form';
import { scopeHints, scopes } from './scopes';

interface NewUserFormProps {
  onMade(): Promise<void>;
  onCancel(): void;
}

/** The form for a new user. */
export function NewUserForm({ onMade, onCancel }: NewUserFormProps) {
  const { values, bind } = useForm({ name: '', password: '', scope: 'operate' as Scope });
  const create = async () => {
    await client.users.create(values);
    await onMade();
  };
  return (
    <Form
      label="New user"
      className="rounded-md border bg-panel p-3"
      submit="Add user"
      onSubmit={create}
      onCancel={onCancel}
    >
      <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
        <TextField
          label="Name"
          autoFocus
          required
          maxLength={100}
          autoCapitalize="none"
          autoComplete="off"
          {...bind('name')}
        />
        <SelectField label="Scope" options={scopes} {...bind('scope')} />
      </div>
      <p className="text-xs text-faint">{scopeHints[values.scope]}</p>
      <TextField
        label="Password"
        hint="At least 10 characters. Pass it on to the user yourself."
        type="password"
        required
        minLength={10}
        maxLength={200}
        autoComplete="new-password"
        {...bind('password')}
      />
    </Form>
  );
}
