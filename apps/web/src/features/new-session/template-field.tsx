import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { SavedTemplate } from '@belay/protocol';
import { Trash2 } from 'lucide-react';
import { changeOf, textsOf } from '@/components/session-defaults/default-texts';
import { Button } from '@/components/ui/button';
import { Select } from '@/components/ui/field';
import { IconButton } from '@/components/ui/icon-button';
import { askConfirm, askText } from '@/lib/ask';
import { templatesQuery } from '@/lib/queries';
import { queryClient } from '@/lib/query-client';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import type { SessionForm } from './session-form';

interface TemplateFieldProps {
  form: SessionForm;
  models: readonly string[];
  onChoose(part: Partial<SessionForm>): void;
}

/** Fills the form from a saved template, or saves it as one. */
export function TemplateField({ form, models, onChoose }: TemplateFieldProps) {
  const { data: templates = [] } = useQuery(templatesQuery);
  const [name, setName] = useState('');
  const task = form.tasks[0]?.trim() ?? '';
  const choose = (next: string) => {
    setName(next);
    const found = templates.find((template) => template.name === next);
    if (found) onChoose(formOf(found));
  };
  return (
    <div className="flex flex-wrap items-center gap-2">
      {templates.length > 0 && (
        <Select
          aria-label="Template"
          className="w-auto max-w-60"
          value={name}
          onChange={({ target }) => choose(target.value)}
        >
          <option value="">Choose a template</option>
          {templates.map((template) => (
            <option key={template.name}>{template.name}</option>
          ))}
        </Select>
      )}
      {name && (
        <IconButton
          label={`Delete template ${name}`}
          icon={Trash2}
          onClick={() => attempt(async () => (await remove(name)) && setName(''))}
        />
      )}
      {task && (
        <Button
          small
          onClick={() =>
            attempt(async () => {
              const saved = await save(name, form, models);
              if (saved) setName(saved);
            })
          }
        >
          Save as template…
        </Button>
      )}
    </div>
  );
}

function formOf({ task, model, check, ...rest }: SavedTemplate): Partial<SessionForm> {
  const { name: _, ...settings } = rest;
  return {
    tasks: [task],
    ...(model !== null && { models: [model] }),
    check: check ?? '',
    own: textsOf(settings),
  };
}

async function save(
  before: string,
  form: SessionForm,
  models: readonly string[],
): Promise<string | null> {
  const name = await askText({
    title: 'Save as template',
    text: 'Task, model, approvals, limits, network and check are saved for you on the server.',
    label: 'Name',
    value: before,
    verb: 'Save',
  });
  if (!name?.trim()) return null;
  const saved = await client.templates.save(name.trim(), {
    task: form.tasks[0]?.trim() ?? '',
    model: models[0] ?? null,
    check: form.check.trim() || null,
    ...changeOf(form.own),
  });
  await queryClient.invalidateQueries(templatesQuery);
  return saved.name;
}

async function remove(name: string): Promise<boolean> {
  const sure = await askConfirm({
    title: `Delete the template ${name}?`,
    verb: 'Delete',
    danger: true,
  });
  if (!sure) return false;
  await client.templates.remove(name);
  await queryClient.invalidateQueries(templatesQuery);
  return true;
}
