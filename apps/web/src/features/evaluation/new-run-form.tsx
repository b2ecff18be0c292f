import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isPlayedModel, pluralText, type ModelChoice, type NewEvaluation } from '@belay/protocol';
import { ChoiceField } from '@/components/ui/choice';
import { CheckField, optionsOf, SelectField, TextField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { QueryState } from '@/components/ui/query-state';
import { modelsQuery } from '@/lib/queries';
import { useForm, type FormState } from '@/lib/use-form';
import {
  emptyRun,
  limitsOf,
  requestOf,
  trialsOf,
  type ReadableData,
  type RunForm,
} from './run-request';

const agents = optionsOf({ model: 'A model', oracle: 'Reference solution', nop: 'No change' });

const agentHints: Record<RunForm['agent'], string> = {
  model: 'Each trial is a session with this model.',
  oracle: 'Applies the solution that comes with each task: all valid tasks pass. Calls no model.',
  nop: 'Changes nothing: no valid task passes. Calls no model.',
};

interface NewRunFormProps {
  /** At least one. */
  data: readonly ReadableData[];
  onStart(run: NewEvaluation): Promise<void>;
  onCancel(): void;
}

/** The form for a run: its data, its agent, and how much of it to run. */
export function NewRunForm({ data, onStart, onCancel }: NewRunFormProps) {
  const { values, change, bind } = useForm(emptyRun);
  const models = useQuery(modelsQuery);
  const usable = (models.data ?? []).filter(({ name, ready }) => ready && !isPlayedModel(name));
  const chosen = data.find(({ name }) => name === values.data) ?? data[0];
  if (!chosen) return null;
  const model = values.model || (usable[0]?.name ?? '');
  const form = { ...values, model };
  const lacksModel = values.agent === 'model' && model === '';
  return (
    <Form
      label="New run"
      className="space-y-4"
      submit="Start run"
      submitting="Starting…"
      disabled={lacksModel}
      onSubmit={() => onStart(requestOf(form, chosen))}
      onCancel={onCancel}
      aside={<span className="text-sm text-muted">{amountText(form, chosen)}</span>}
    >
      <SelectField
        label="Data"
        options={data.map(({ name, suite, tasks }) => ({
          value: name,
          label: `${name} (${suite}, ${pluralText(tasks, 'task')})`,
        }))}
        value={chosen.name}
        // A number of tasks belongs to the data that it was chosen for.
        onChange={(name) => change({ data: name, sample: '' })}
      />
      <ChoiceField
        label="Agent"
        hint={agentHints[values.agent]}
        options={agents}
        {...bind('agent')}
      />
      {values.agent === 'model' && <QueryState query={models} what="the models" />}
      {values.agent === 'model' && models.data && (
        <ModelField models={usable} value={model} onChange={(name) => change({ model: name })} />
      )}
      <SizeFields data={chosen} agent={values.agent} bind={bind} />
      <CheckField {...bind('preflight')}>
        Preflight: first check each task with its reference solution and with no change
      </CheckField>
    </Form>
  );
}

/** How much the run will do; nothing while a number is invalid. */
function amountText(form: RunForm, data: ReadableData): string {
  const trials = trialsOf(form, data);
  return Number.isInteger(trials) && trials > 0 ? pluralText(trials, 'trial') : '';
}

interface ModelFieldProps {
  models: readonly ModelChoice[];
  value: string;
  onChange(name: string): void;
}

function ModelField({ models, ...field }: ModelFieldProps) {
  if (models.length === 0)
    return (
      <p className="text-sm text-fail">
        No model is set up.{' '}
        <Link to="/settings" search={{ section: 'models' }} className="underline">
          Add a key
        </Link>
        , or choose another agent.
      </p>
    );
  const options = models.map(({ name, title }) => ({
    value: name,
    label: title === name ? name : `${title} (${name})`,
  }));
  return <SelectField label="Model" options={options} {...field} />;
}

interface SizeFieldsProps {
  data: ReadableData;
  agent: RunForm['agent'];
  bind: FormState<RunForm>['bind'];
}

/** How many tasks and trials, how many at a time, and what they may cost. */
function SizeFields({ data, agent, bind }: SizeFieldsProps) {
  const limits = limitsOf(data);
  return (
    <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
      <NumberField
        label="Tasks"
        placeholder={`All ${data.tasks}`}
        hint="Chosen at random. Leave empty for all."
        max={limits.sample}
        {...bind('sample')}
      />
      <NumberField label="Attempts per task" required max={limits.attempts} {...bind('attempts')} />
      <NumberField
        label="Trials at a time"
        hint="As many as the machine can run at once."
        required
        max={limits.concurrency}
        {...bind('concurrency')}
      />
      {agent === 'model' && (
        <NumberField
          label="Max cost (USD)"
          placeholder="No limit"
          hint="When it is reached, no more trials start."
          min={0.01}
          step={0.01}
          {...bind('maxDollars')}
        />
      )}
    </div>
  );
}

interface NumberFieldProps {
  label: string;
  hint?: string;
  placeholder?: string;
  required?: boolean;
  min?: number;
  max?: number;
  step?: number;
  value: string;
  onChange(value: string): void;
}

const NumberField = ({ min = 1, step = 1, ...field }: NumberFieldProps) => (
  <TextField
    type="number"
    inputMode={step === 1 ? 'numeric' : 'decimal'}
    min={min}
    step={step}
    {...field}
  />
);
