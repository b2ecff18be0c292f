import { useState, type ComponentType, type ReactNode } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { SessionDefaults } from '@belay/protocol';
import {
  ApprovalField,
  BudgetFields,
  NetworkFields,
  type DefaultFieldsProps,
} from '@/components/session-defaults/default-fields';
import { changeOf, textsOf, type DefaultTexts } from '@/components/session-defaults/default-texts';
import { QueryState } from '@/components/ui/query-state';
import { Form } from '@/components/ui/form';
import { settingsQuery } from '@/lib/queries';
import { useReadOnlySettings } from '@/lib/role';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';
import { formState } from '@/lib/use-form';
import type { Submitted } from '@/lib/use-submit';

export const BudgetSettings = () => (
  <DefaultSettings
    Fields={BudgetFields}
    text="Hard limits, checked before each model call. A session that reaches one stops and continues when you raise it."
  />
);

export const NetworkSettings = () => (
  <DefaultSettings
    Fields={NetworkFields}
    text="Which hosts a sandbox may reach. You’re asked about other hosts, unless there is no network."
  />
);

export const ApprovalDefault = () => (
  <DefaultSettings
    Fields={ApprovalField}
    text="When commands, web pages and MCP servers need your approval, unless a rule below decides. Only the strictest setting asks about reading and editing files, too."
  />
);

interface DefaultSettingsProps {
  Fields: ComponentType<DefaultFieldsProps>;
  text: ReactNode;
}

/** Default settings of new sessions. */
function DefaultSettings({ Fields, text }: DefaultSettingsProps) {
  const settings = useQuery(settingsQuery);
  return (
    <div className="space-y-4">
      <p className="text-sm text-muted">
        {text} Applies to new sessions; existing sessions keep theirs.
      </p>
      <QueryState query={settings} what="the settings" />
      {settings.data && <DefaultForm saved={settings.data} Fields={Fields} />}
    </div>
  );
}

function DefaultForm({
  saved,
  Fields,
}: Pick<DefaultSettingsProps, 'Fields'> & { saved: SessionDefaults }) {
  const readOnly = useReadOnlySettings();
  const queries = useQueryClient();
  const [typed, setTyped] = useState<Partial<DefaultTexts>>({});
  const form = formState({ ...textsOf(saved), ...typed }, (part) =>
    setTyped((now) => ({ ...now, ...part })),
  );
  const save = async (): Promise<Submitted> => {
    const next = await client.settings.change(changeOf(typed));
    queries.setQueryData(settingsQuery.queryKey, next);
    // Keeps what was typed while it was saved.
    setTyped((now) => (now === typed ? {} : now));
    toast('Saved for new sessions.');
    return 'again';
  };
  return (
    <fieldset disabled={readOnly}>
      <Form submit="Save" disabled={Object.keys(typed).length === 0} onSubmit={save}>
        <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
          <Fields form={form} />
        </div>
      </Form>
    </fieldset>
  );
}
