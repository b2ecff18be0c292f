import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { machineName } from '@belay/protocol';
import { CopyText } from '@/components/ui/copy-text';
import { Empty } from '@/components/ui/empty';
import { QueryState } from '@/components/ui/query-state';
import { CheckField, TextField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { machinesQuery, ownSandboxesQuery } from '@/lib/queries';
import { useReadOnlySettings } from '@/lib/role';
import { client } from '@/lib/server';
import { useForm } from '@/lib/use-form';
import type { Submitted } from '@/lib/use-submit';
import { MachineRow } from './machine-row';
import { PlaceLoad } from './place-load';

const refetchInterval = 5_000;

/** The places of sandboxes: this server, and the machines that joined it. */
export function MachineSettings() {
  const readOnly = useReadOnlySettings();
  const machines = useQuery({ ...machinesQuery, refetchInterval });
  const own = useQuery({ ...ownSandboxesQuery, refetchInterval });
  return (
    <div className="space-y-4">
      <p className="text-sm text-muted">
        A session runs where there is most capacity: on this server, or on a joined machine with
        containers. A bare machine runs only sessions that name it, and nothing is confined there:
        commands run with all rights of the user who joined it.
      </p>
      {own.data && (
        <section aria-label="This server" className="rounded-md border bg-panel p-3 text-sm">
          <p className="font-medium">This server</p>
          <PlaceLoad {...own.data} />
        </section>
      )}
      <QueryState query={machines} what="the machines" />
      {machines.data?.length === 0 && (
        <Empty title="No machines">Add one to run agents on it.</Empty>
      )}
      {machines.data?.map((machine) => (
        <MachineRow key={machine.id} machine={machine} readOnly={readOnly} />
      ))}
      {!readOnly && <NewMachineForm />}
    </div>
  );
}

function NewMachineForm() {
  const { values, bind } = useForm({ name: '', contained: true });
  const [command, setCommand] = useState('');
  const invite = async (): Promise<Submitted> => {
    const { token } = await client.machines.invite({ name: values.name });
    const flag = values.contained ? ' --container' : '';
    setCommand(`belay join ${location.origin} --token ${token}${flag}`);
    return 'again';
  };
  return (
    <>
      <Form
        submit="Create token"
        disabled={!machineName.safeParse(values.name).success}
        onSubmit={invite}
      >
        <TextField label="New machine" placeholder="laptop" {...bind('name')} />
        <CheckField {...bind('contained')}>
          Run agents in containers (needs Docker on that machine)
        </CheckField>
      </Form>
      {command && (
        <div role="status" className="space-y-2 rounded-md border border-line-strong bg-panel p-3">
          <p className="text-sm">Run this on the machine within the hour; the token works once:</p>
          <CopyText label="Copy command" text={command} />
        </div>
      )}
    </>
  );
}
