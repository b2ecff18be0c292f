import { useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { confinementOf, machineName, pluralText, type Machine } from '@belay/protocol';
import { clsx } from 'clsx';
import { Button } from '@/components/ui/button';
import { CopyText } from '@/components/ui/copy-text';
import { Empty } from '@/components/ui/empty';
import { QueryState } from '@/components/ui/query-state';
import { CheckField, TextField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { attemptConfirmed } from '@/lib/ask';
import { machinesQuery } from '@/lib/queries';
import { useReadOnlySettings } from '@/lib/role';
import { client } from '@/lib/server';
import { useForm } from '@/lib/use-form';
import type { Submitted } from '@/lib/use-submit';

/** Machines that joined this server to run agents outside its sandboxes. */
export function MachineSettings() {
  const readOnly = useReadOnlySettings();
  const machines = useQuery({ ...machinesQuery, refetchInterval: 5_000 });
  return (
    <div className="space-y-4">
      <p className="text-sm text-muted">
        A joined machine runs the agents of the sessions that you direct to it; all others stay in
        sandboxes. A machine with Docker can run each agent in a container of its own. On a bare
        machine nothing is confined: commands run with all rights of the user who joined it.
      </p>
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

function MachineRow({ machine, readOnly }: { machine: Machine; readOnly: boolean }) {
  const queries = useQueryClient();
  const { id, name, host, os, arch, kind, connected, sessions } = machine;
  const remove = () => {
    const title = `Remove ${name}?`;
    const text = 'It can no longer connect. Its agents stop, and their sessions fail.';
    attemptConfirmed({ title, text, verb: 'Remove', danger: true }, async () => {
      await client.machines.remove(id);
      await queries.invalidateQueries(machinesQuery);
    });
  };
  return (
    <section
      aria-label={name}
      className="flex items-center gap-3 rounded-md border bg-panel p-3 text-sm"
    >
      <div className="min-w-0 flex-1">
        <p className="flex items-baseline gap-2">
          <span className="min-w-0 truncate font-medium">{name}</span>
          <span className={clsx('shrink-0', connected ? 'text-pass' : 'text-muted')}>
            {connected ? 'connected' : 'not connected'}
          </span>
        </p>
        <p className={clsx('break-words', kind === 'bare' ? 'text-fail' : 'text-muted')}>
          {confinementOf(machine)}
        </p>
        <p className="text-xs break-words text-faint">
          {kind === 'bare' && `${host}, `}
          {os}, {arch} · {pluralText(sessions.length, 'session')}
        </p>
      </div>
      {!readOnly && (
        <Button small look="danger" onClick={remove} aria-label={`Remove ${name}`}>
          Remove
        </Button>
      )}
    </section>
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
