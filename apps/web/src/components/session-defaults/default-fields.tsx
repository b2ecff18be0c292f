import {
  approvalMode,
  approvalModes,
  hostSetIn,
  hostSetNames,
  hostSets,
  hostsOfSet,
  networkProfile,
  networkProfiles,
  type HostSetName,
} from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Field, Input, Select } from '@/components/ui/field';
import { words, type DefaultTexts } from './default-texts';

interface FieldsProps {
  texts: DefaultTexts;
  onChange(part: Partial<DefaultTexts>): void;
}

export function ApprovalField({ texts, onChange }: FieldsProps) {
  return (
    <Field label="Approvals" hint="For calls that run commands or use the network.">
      <Select
        value={texts.approvals}
        onChange={({ target }) =>
          onChange({ approvals: target.value as DefaultTexts['approvals'] })
        }
      >
        {approvalMode.options.map((mode) => (
          <option key={mode} value={mode}>
            {approvalModes[mode].label}
          </option>
        ))}
      </Select>
    </Field>
  );
}

const limits = [
  { field: 'steps', label: 'Step limit', hint: 'Model calls', step: 1 },
  { field: 'tokens', label: 'Token limit', hint: 'Prompts and replies together', step: 1 },
  {
    field: 'dollars',
    label: 'Spending limit ($)',
    hint: 'Needs a model with a known price',
    step: 'any',
  },
  { field: 'minutes', label: 'Time limit (minutes)', hint: 'Wall-clock time', step: 'any' },
] as const;

export function BudgetFields({ texts, onChange }: FieldsProps) {
  return limits.map(({ field, label, hint, step }) => (
    <Field key={field} label={label} hint={`${hint}. Leave empty for no limit.`}>
      <Input
        type="number"
        min={step === 1 ? 1 : 0.01}
        step={step}
        placeholder="no limit"
        value={texts[field]}
        onChange={({ target }) => onChange({ [field]: target.value })}
      />
    </Field>
  ));
}

/** One click for the hosts of a package manager, which are named below. */
function HostSets({ hosts, onChange }: { hosts: string; onChange(hosts: string): void }) {
  const entries = words(hosts);
  const chosen = hostSetNames.filter((name) => entries.some((entry) => hostSetIn(entry) === name));
  const toggle = (name: HostSetName) => {
    const others = entries.filter((entry) => hostSetIn(entry) !== name);
    onChange((chosen.includes(name) ? others : [...entries, `@${name}`]).join(', '));
  };
  return (
    <fieldset className="space-y-1">
      <legend className="text-sm font-medium">Package managers with their sources on GitHub</legend>
      <div className="flex flex-wrap gap-2">
        {hostSetNames.map((name) => (
          <Button
            key={name}
            small
            aria-pressed={chosen.includes(name)}
            look={chosen.includes(name) ? 'amber' : undefined}
            title={hostsOfSet(name).join(', ')}
            onClick={() => toggle(name)}
          >
            {hostSets[name].title}
          </Button>
        ))}
      </div>
      {chosen.map((name) => (
        <p key={name} className="text-xs break-words text-faint">
          @{name}: {hostsOfSet(name).join(', ')}
        </p>
      ))}
    </fieldset>
  );
}

export function NetworkFields({ texts, onChange }: FieldsProps) {
  return (
    <>
      <Field
        label="Network"
        hint="The sandbox has no network interface; allowed traffic goes through the server. Hosts that are reached by HTTPS, registries too, can also be written to."
      >
        <Select
          value={texts.egress}
          onChange={({ target }) => onChange({ egress: target.value as DefaultTexts['egress'] })}
        >
          {networkProfile.options.map((profile) => (
            <option key={profile} value={profile}>
              {networkProfiles[profile].label}
            </option>
          ))}
        </Select>
      </Field>
      <Field
        label="Allowed hosts"
        hint="name, name:port, *.name or a set such as @npm; read-only:name allows plain HTTP without uploads. Ignored without network."
      >
        <Input
          placeholder="api.example.com"
          value={texts.hosts}
          onChange={({ target }) => onChange({ hosts: target.value })}
        />
      </Field>
      <HostSets hosts={texts.hosts} onChange={(hosts) => onChange({ hosts })} />
    </>
  );
}
