import { useQuery } from '@tanstack/react-query';
import { confinementOf } from '@belay/protocol';
import { Field, Select } from '@/components/ui/field';
import { machinesQuery } from '@/lib/queries';

interface MachineFieldProps {
  /** A joined machine; null for the place with most capacity. */
  value: string | null;
  onChange(value: string | null): void;
}

/** Where the agent runs. Renders nothing when no machine has joined. */
export function MachineField({ value, onChange }: MachineFieldProps) {
  const { data = [] } = useQuery(machinesQuery);
  if (data.length === 0) return null;
  const machine = data.find(({ name }) => name === value);
  return (
    <Field
      label="Runs in"
      className="col-span-full"
      hint={
        machine?.kind === 'bare' && (
          <strong className="text-fail">
            Nothing is confined: commands run on {machine.host} with all rights of the user who
            joined it.
          </strong>
        )
      }
    >
      <Select value={value ?? ''} onChange={({ target }) => onChange(target.value || null)}>
        <option value="">Where there is most capacity</option>
        {data.map(({ name, host, kind, connected, draining }) => (
          <option key={name} value={name} disabled={!connected || draining}>
            {`${name} (${confinementOf({ kind, host })}${connected ? '' : ', not connected'}${draining ? ', takes no sessions' : ''})`}
          </option>
        ))}
      </Select>
    </Field>
  );
}
