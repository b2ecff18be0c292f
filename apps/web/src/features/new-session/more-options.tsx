import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import {
  ApprovalField,
  BudgetFields,
  NetworkFields,
} from '@/components/session-defaults/default-fields';
import { textsOf } from '@/components/session-defaults/default-texts';
import { Disclosure } from '@/components/ui/disclosure';
import { Field, Input, TextArea } from '@/components/ui/field';
import { settingsQuery } from '@/lib/queries';
import { useAdmin } from '@/lib/role';
import { MachineField } from './machine-field';
import { ActionsField } from './actions-field';
import { McpField } from './mcp-field';
import type { SessionForm } from './new-session';

interface MoreOptionsProps {
  form: SessionForm;
  onChange(part: Partial<SessionForm>): void;
}

/** Approvals, limits, network, image, the sandbox’s profile and the plan’s file; what is left alone follows the server’s settings. */
export function MoreOptions({ form, onChange }: MoreOptionsProps) {
  const { data: defaults } = useQuery(settingsQuery);
  const isAdmin = useAdmin();
  const texts = defaults && { ...textsOf(defaults), ...form.own };
  const own = (part: SessionForm['own']) => onChange({ own: { ...form.own, ...part } });
  const text = (field: 'image' | 'tags') => ({
    value: form[field],
    onChange: (event: { target: { value: string } }) => onChange({ [field]: event.target.value }),
  });
  return (
    <Disclosure title="More: approvals, limits, network, image, MCP">
      <div className="mt-4 grid grid-cols-2 gap-4 max-sm:grid-cols-1">
        {texts && <ApprovalField texts={texts} onChange={own} />}
        <Field label="Image" hint="Any Linux image. Leave empty for the default.">
          <Input placeholder="belay/sandbox" {...text('image')} />
        </Field>
        {texts && <BudgetFields texts={texts} onChange={own} />}
        {texts && <NetworkFields texts={texts} onChange={own} />}
        <Field label="Tags">
          <Input placeholder="comma-separated tags" {...text('tags')} />
        </Field>
        <MachineField chosen={form.machine} onChange={(machine) => onChange({ machine })} />
        <McpField chosen={form.mcp} onChange={(mcp) => onChange({ mcp })} />
        <ActionsField chosen={form.actions} onChange={(actions) => onChange({ actions })} />
        {isAdmin && form.machine === null && (
          <Field
            label="Host folders"
            className="col-span-full"
            hint="Folders of the server’s machine to share, one per line. The agent finds them in /mnt and changes your own files there; with :ro at the end it only reads them."
          >
            <TextArea
              placeholder="/srv/data:ro"
              value={form.mounts}
              onChange={({ target }) => onChange({ mounts: target.value })}
              className="min-h-8 font-mono text-xs"
            />
          </Field>
        )}
        <Check checked={form.root} onChange={(root) => onChange({ root })}>
          Run as root in the sandbox, to install system packages
        </Check>
        <Check checked={form.trust} onChange={(trust) => onChange({ trust })}>
          Trust AGENTS.md and skills of this workspace from the start
        </Check>
        <Check checked={form.keepsPlan} onChange={(keepsPlan) => onChange({ keepsPlan })}>
          Keep the plan in a file of the workspace, which you can edit, too
        </Check>
        {form.keepsPlan && (
          <Field label="Plan file" hint="A Markdown file in the workspace.">
            <Input
              value={form.planFile}
              onChange={({ target }) => onChange({ planFile: target.value })}
            />
          </Field>
        )}
      </div>
    </Disclosure>
  );
}

interface CheckProps {
  checked: boolean;
  onChange(checked: boolean): void;
  children: ReactNode;
}

function Check({ checked, onChange, children }: CheckProps) {
  return (
    <label className="col-span-full flex items-center gap-2 text-sm">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
        className="accent-[var(--amber)]"
      />
      {children}
    </label>
  );
}
