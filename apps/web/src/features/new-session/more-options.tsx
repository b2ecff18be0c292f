import { useQuery } from '@tanstack/react-query';
import {
  ApprovalField,
  BudgetFields,
  NetworkFields,
} from '@/components/session-defaults/default-fields';
import { textsOf, type DefaultTexts } from '@/components/session-defaults/default-texts';
import { Disclosure } from '@/components/ui/disclosure';
import { CheckField, Field, TextArea, TextField } from '@/components/ui/field';
import { settingsQuery } from '@/lib/queries';
import { useAdmin } from '@/lib/role';
import { formState } from '@/lib/use-form';
import { MachineField } from './machine-field';
import { ActionsField } from './actions-field';
import { McpField } from './mcp-field';
import type { SessionForm } from './session-form';

interface MoreOptionsProps {
  form: SessionForm;
  onChange(part: Partial<SessionForm>): void;
}

/** Further options. Approvals, limits and network follow the server’s settings unless changed. */
export function MoreOptions({ form, onChange }: MoreOptionsProps) {
  const { data: defaults } = useQuery(settingsQuery);
  const isAdmin = useAdmin();
  const { bind } = formState(form, onChange);
  const own =
    defaults &&
    formState<DefaultTexts>({ ...textsOf(defaults), ...form.own }, (part) =>
      onChange({ own: { ...form.own, ...part } }),
    );
  return (
    <Disclosure title="More: approvals, limits, network, image, MCP">
      <div className="mt-4 grid grid-cols-2 gap-4 max-sm:grid-cols-1">
        {own && <ApprovalField form={own} />}
        <TextField
          label="Image"
          hint="Any Linux image. Leave empty for the default."
          placeholder="belay/sandbox"
          {...bind('image')}
        />
        {own && <BudgetFields form={own} />}
        {own && <NetworkFields form={own} />}
        <TextField label="Tags" placeholder="comma-separated tags" {...bind('tags')} />
        <MachineField {...bind('machine')} />
        <McpField {...bind('mcp')} />
        <ActionsField {...bind('actions')} />
        {isAdmin && form.machine === null && (
          <Field
            label="Host folders"
            className="col-span-full"
            hint="Folders of the server’s machine to share, one per line. The agent sees them in /mnt and changes your own files there; add :ro to make a folder read-only."
          >
            <TextArea
              placeholder="/srv/data:ro"
              value={form.mounts}
              onChange={({ target }) => onChange({ mounts: target.value })}
              className="min-h-8 font-mono text-xs"
            />
          </Field>
        )}
        <CheckField className="col-span-full" {...bind('root')}>
          Run as root in the sandbox to install system packages
        </CheckField>
        <CheckField className="col-span-full" {...bind('trust')}>
          Trust AGENTS.md and skills of this workspace from the start
        </CheckField>
        <CheckField className="col-span-full" {...bind('modelForPrograms')}>
          Let programs in the sandbox call the model, within the budgets
        </CheckField>
        <CheckField className="col-span-full" {...bind('keepsPlan')}>
          Keep the plan in a workspace file that you can edit too
        </CheckField>
        {form.keepsPlan && (
          <TextField
            label="Plan file"
            hint="A Markdown file in the workspace."
            {...bind('planFile')}
          />
        )}
      </div>
    </Disclosure>
  );
}
