import { useState } from 'react';
import { ownValue, type ActionManifest } from '@belay/protocol';
import { Field, Input, Select, TextArea } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { inputFields, callInput, type InputField } from './input-fields';
import { useActionCall } from './use-action-call';

interface ActionFormProps {
  name: string;
  manifest: Pick<ActionManifest, 'parameters'>;
}

/** Calls an action with values for its parameters. */
export function ActionForm({ name, manifest }: ActionFormProps) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const { run, result } = useActionCall(name);
  const fields = inputFields(manifest);
  const submit = async () => {
    await run(callInput(fields, values));
    return 'again' as const;
  };
  return (
    <div className="space-y-3 rounded-md border bg-panel p-3">
      <Form label={`Try ${name}`} submit="Run" submitting="Running…" onSubmit={submit}>
        {fields.map((field) => (
          <Field key={field.name} label={field.name} hint={field.hint}>
            <ValueField
              field={field}
              value={ownValue(values, field.name) ?? ''}
              onChange={(value) => setValues({ ...values, [field.name]: value })}
            />
          </Field>
        ))}
        {fields.length === 0 && <p className="text-sm text-muted">It has no parameters.</p>}
      </Form>
      {result}
    </div>
  );
}

interface ValueFieldProps {
  field: InputField;
  value: string;
  onChange(value: string): void;
}

function ValueField({ field: { kind, options, required }, value, onChange }: ValueFieldProps) {
  const common = {
    value,
    required,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  };
  if (kind === 'choice' || kind === 'boolean')
    return (
      <Select {...common}>
        <option value="" />
        {(kind === 'boolean' ? ['true', 'false'] : options).map((option) => (
          <option key={option}>{option}</option>
        ))}
      </Select>
    );
  if (kind === 'lines' || kind === 'json')
    return <TextArea {...common} className="min-h-8 font-mono text-xs" />;
  return <Input {...common} {...(kind === 'number' && { type: 'number', step: 'any' })} />;
}
