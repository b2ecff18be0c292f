import { Field, Input, Select } from '@/components/ui/field';
import type { DefaultTexts } from './default-texts';

interface FieldsProps {
  texts: DefaultTexts;
  onChange(part: Partial<DefaultTexts>): void;
}

export function ApprovalField({ texts, onChange }: FieldsProps) {
  return (
    <Field label="Approvals" hint="For calls that run commands or reach out.">
      <Select
        value={texts.approvals}
        onChange={({ target }) =>
          onChange({ approvals: target.value as DefaultTexts['approvals'] })
        }
      >
        <option value="ask">Ask me each time</option>
        <option value="delay">Run after two seconds unless I say no</option>
        <option value="auto">Run at once</option>
      </Select>
    </Field>
  );
}

const limits = [
  { field: 'steps', label: 'Most steps', hint: 'Calls of the model', step: 1 },
  { field: 'tokens', label: 'Most tokens', hint: 'Prompts and replies together', step: 1 },
  {
    field: 'dollars',
    label: 'Most dollars',
    hint: 'Needs a model with a known price',
    step: 'any',
  },
  { field: 'minutes', label: 'Most minutes', hint: 'Wall time', step: 'any' },
] as const;

export function BudgetFields({ texts, onChange }: FieldsProps) {
  return limits.map(({ field, label, hint, step }) => (
    <Field key={field} label={label} hint={`${hint}; empty is no limit.`}>
      <Input
        type="number"
        min={step === 1 ? 1 : 0.01}
        step={step}
        placeholder="no limit"
        value={texts[field]}
        onChange={({ target }) => onChange({ [field]: target.value })}
      />
    </Field>
  ));
}

export function NetworkFields({ texts, onChange }: FieldsProps) {
  return (
    <>
      <Field
        label="Network"
        hint="The sandbox has no network card; what is allowed goes through the server."
      >
        <Select
          value={texts.egress}
          onChange={({ target }) => onChange({ egress: target.value as DefaultTexts['egress'] })}
        >
          <option value="none">None</option>
          <option value="packages">Package registries</option>
          <option value="list">Only the hosts below</option>
          <option value="open">Everything</option>
        </Select>
      </Field>
      <Field label="More hosts" hint="name, name:port or *.name; they count in all but None.">
        <Input
          placeholder="api.example.com"
          value={texts.hosts}
          onChange={({ target }) => onChange({ hosts: target.value })}
        />
      </Field>
    </>
  );
}
