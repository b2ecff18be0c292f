import { useState, type ComponentType, type ReactNode } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { SessionDefaults } from '@belay/protocol';
import {
  ApprovalField,
  BudgetFields,
  NetworkFields,
} from '@/components/session-defaults/default-fields';
import { changeOf, textsOf, type DefaultTexts } from '@/components/session-defaults/default-texts';
import { Button } from '@/components/ui/button';
import { Failed, Loading } from '@/components/ui/empty';
import { settingsQuery } from '@/lib/queries';
import { useReadOnlySettings } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';

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
    text="Reading and editing files in the sandbox always runs; commands, pages and MCP servers follow this, unless a rule below says otherwise."
  />
);

interface DefaultSettingsProps {
  Fields: ComponentType<{ texts: DefaultTexts; onChange(part: Partial<DefaultTexts>): void }>;
  text: ReactNode;
}

/** What counts for all sessions to come. */
function DefaultSettings({ Fields, text }: DefaultSettingsProps) {
  const settings = useQuery(settingsQuery);
  return (
    <div className="space-y-4">
      <p className="text-sm text-muted">
        {text} Applies to new sessions; existing sessions keep theirs.
      </p>
      {settings.isPending && <Loading what="the settings" />}
      {settings.isError && <Failed error={settings.error} retry={() => void settings.refetch()} />}
      {settings.data && (
        <DefaultForm key={JSON.stringify(settings.data)} saved={settings.data} Fields={Fields} />
      )}
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
  const save = () =>
    attempt(async () => {
      const next = await client.settings.change(changeOf(typed));
      queries.setQueryData(settingsQuery.queryKey, next);
    }, 'Saved for new sessions.');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <fieldset disabled={readOnly} className="space-y-4">
        <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
          <Fields
            texts={{ ...textsOf(saved), ...typed }}
            onChange={(part) => setTyped({ ...typed, ...part })}
          />
        </div>
        <Button type="submit" small look="solid" disabled={Object.keys(typed).length === 0}>
          Save
        </Button>
      </fieldset>
    </form>
  );
}
