import { ChevronRight } from 'lucide-react';
import { Field, Input, Select } from '@/components/ui/field';
import type { Draft } from './new-session';

interface MoreOptionsProps {
  draft: Draft;
  onChange(part: Partial<Draft>): void;
}

/** Approvals, limits, network and image. */
export function MoreOptions({ draft, onChange }: MoreOptionsProps) {
  const text = (field: 'image' | 'steps' | 'dollars' | 'minutes' | 'hosts' | 'tags') => ({
    value: draft[field],
    onChange: (event: { target: { value: string } }) => onChange({ [field]: event.target.value }),
  });
  return (
    <details className="group">
      <summary className="flex list-none items-center gap-1 text-sm font-medium text-muted hover:text-ink">
        <ChevronRight
          size={14}
          aria-hidden
          className="transition-transform duration-100 group-open:rotate-90"
        />
        More: approvals, limits, network, image
      </summary>
      <div className="mt-4 grid grid-cols-2 gap-4 max-sm:grid-cols-1">
        <Field label="Approvals" hint="For calls that write, run or reach out.">
          <Select
            value={draft.approvals}
            onChange={(event) => onChange({ approvals: event.target.value as Draft['approvals'] })}
          >
            <option value="ask">Ask me each time</option>
            <option value="delay">Run after two seconds unless I say no</option>
            <option value="auto">Run at once</option>
          </Select>
        </Field>
        <Field label="Image" hint="Any Linux image; empty is the default one.">
          <Input placeholder="belay/sandbox" {...text('image')} />
        </Field>
        <Field label="Most steps" hint="Calls of the model; empty is no limit.">
          <Input inputMode="numeric" {...text('steps')} />
        </Field>
        <Field label="Most dollars" hint="Empty is no limit.">
          <Input inputMode="decimal" placeholder="no limit" {...text('dollars')} />
        </Field>
        <Field label="Most minutes" hint="Wall time; empty is no limit.">
          <Input inputMode="numeric" placeholder="no limit" {...text('minutes')} />
        </Field>
        <Field label="Tags">
          <Input placeholder="words, parted by commas" {...text('tags')} />
        </Field>
        <Field
          label="Network"
          hint="The sandbox has no network card; what is allowed goes through the server."
        >
          <Select
            value={draft.egress}
            onChange={(event) => onChange({ egress: event.target.value as Draft['egress'] })}
          >
            <option value="none">None</option>
            <option value="packages">Package registries</option>
            <option value="list">Only the hosts below</option>
            <option value="open">Everything</option>
          </Select>
        </Field>
        <Field label="More hosts" hint="name, name:port or *.name">
          <Input placeholder="api.example.com" {...text('hosts')} />
        </Field>
        <label className="col-span-full flex items-center gap-2 text-sm">
          <input
            type="checkbox"
            checked={draft.trust}
            onChange={(event) => onChange({ trust: event.target.checked })}
            className="accent-[var(--amber)]"
          />
          Trust AGENTS.md and skills of this workspace from the start
        </label>
      </div>
    </details>
  );
}
