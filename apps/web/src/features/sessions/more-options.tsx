import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Disclosure } from '@/components/ui/disclosure';
import { Field, Input } from '@/components/ui/field';
import { ApprovalField, BudgetFields, NetworkFields } from './default-fields';
import { textsOf } from './default-texts';
import { McpField } from './mcp-field';
import type { Draft } from './new-session';
import { settingsQuery } from './queries';

interface MoreOptionsProps {
  draft: Draft;
  onChange(part: Partial<Draft>): void;
}

/** Approvals, limits, network, image and the sandbox's profile; what is left alone follows the server's settings. */
export function MoreOptions({ draft, onChange }: MoreOptionsProps) {
  const { data: defaults } = useQuery(settingsQuery);
  const texts = defaults && { ...textsOf(defaults), ...draft.own };
  const own = (part: Draft['own']) => onChange({ own: { ...draft.own, ...part } });
  const text = (field: 'image' | 'tags') => ({
    value: draft[field],
    onChange: (event: { target: { value: string } }) => onChange({ [field]: event.target.value }),
  });
  return (
    <Disclosure title="More: approvals, limits, network, image, MCP">
      <div className="mt-4 grid grid-cols-2 gap-4 max-sm:grid-cols-1">
        {texts && <ApprovalField texts={texts} onChange={own} />}
        <Field label="Image" hint="Any Linux image; empty is the default one.">
          <Input placeholder="belay/sandbox" {...text('image')} />
        </Field>
        {texts && <BudgetFields texts={texts} onChange={own} />}
        {texts && <NetworkFields texts={texts} onChange={own} />}
        <Field label="Tags">
          <Input placeholder="words, parted by commas" {...text('tags')} />
        </Field>
        <McpField chosen={draft.mcp} onChange={(mcp) => onChange({ mcp })} />
        <Check checked={draft.root} onChange={(root) => onChange({ root })}>
          Root in the sandbox, so that system packages can be installed
        </Check>
        <Check checked={draft.trust} onChange={(trust) => onChange({ trust })}>
          Trust AGENTS.md and skills of this workspace from the start
        </Check>
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
