import { clsx } from 'clsx';
import { Field, Select, TextField } from '@/components/ui/field';
import { mostRuns, type SessionForm } from './session-form';

interface CompareFieldsProps {
  form: SessionForm;
  onChange(part: Partial<SessionForm>): void;
}

/** The check command, and the number of runs per model. */
export function CompareFields({ form, onChange }: CompareFieldsProps) {
  const { others, runs, check, tasks } = form;
  const most = mostRuns(form);
  const hasRuns = tasks.length === 1 && most > 1;
  return (
    <div className={clsx('grid gap-4', hasRuns && 'sm:grid-cols-[minmax(0,1fr)_auto]')}>
      <TextField
        label="Check command"
        hint="Optional. The server runs it in the sandbox at the end and shows its exit code, whatever the agent says."
        placeholder="npm test"
        className="font-mono text-xs"
        value={check}
        onChange={(next) => onChange({ check: next })}
      />
      {hasRuns && (
        <Field label={others.length > 0 ? 'Runs per agent' : 'Runs per model'} className="sm:w-40">
          <Select
            value={Math.min(runs, most)}
            onChange={({ target }) => onChange({ runs: Number(target.value) })}
          >
            {Array.from({ length: most }, (_, index) => (
              <option key={index} value={index + 1}>
                {index + 1}
              </option>
            ))}
          </Select>
        </Field>
      )}
    </div>
  );
}
