import { useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { SelectField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { QueryState } from '@/components/ui/query-state';
import { askConfirm } from '@/lib/ask';
import { client } from '@/lib/server';
import type { Submitted } from '@/lib/use-submit';
import { DefinitionEditor } from './definition-editor';
import { automationsQuery, jobsQuery } from './queries';

/** A form for a definition, which begins with one of the jobs that come with the server. */
export function NewAutomation({ onClose }: { onClose(): void }) {
  const jobs = useQuery(jobsQuery);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [job, setJob] = useState('');
  const [text, setText] = useState('');
  const textOf = (name: string) => jobs.data?.find((one) => one.name === name)?.text ?? '';
  const choose = async (name: string) => {
    const isTyped = text.trim() !== '' && text !== textOf(job);
    const question = {
      title: 'Replace what you typed?',
      text: 'The definition has changes that are not saved.',
      verb: 'Replace',
    };
    if (isTyped && !(await askConfirm(question))) return;
    setJob(name);
    setText(textOf(name));
  };
  const add = async (): Promise<Submitted> => {
    const { name } = await client.automations.add({ text });
    await queries.invalidateQueries(automationsQuery);
    await navigate({ to: '/automations/$name', params: { name } });
  };
  const description = jobs.data?.find(({ name }) => name === job)?.description;
  return (
    <div className="rounded-md border bg-panel p-4">
      <QueryState query={jobs} what="the jobs" />
      {jobs.data && (
        <Form
          label="New automation"
          submit="Add"
          submitting="Adding…"
          disabled={text.trim() === ''}
          onSubmit={add}
          onCancel={onClose}
        >
          <SelectField
            label="Begin with"
            hint={description}
            value={job}
            onChange={(name) => void choose(name)}
            autoFocus
            options={[
              { value: '', label: 'An empty definition' },
              ...jobs.data.map(({ name }) => ({ value: name, label: name })),
            ]}
          />
          <DefinitionEditor text={text} onChange={setText} />
        </Form>
      )}
    </div>
  );
}
