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
import { SelectField, TextField } from '@/components/ui/field';
import { splitList } from '@/lib/split-list';
import type { FormState } from '@/lib/use-form';
import { budgetFields, type DefaultTexts, type BudgetField } from './default-texts';

export interface DefaultFieldsProps {
  form: FormState<DefaultTexts>;
}

const approvalOptions = approvalMode.options.map((value) => ({
  value,
  label: approvalModes[value].label,
}));

export const ApprovalField = ({ form }: DefaultFieldsProps) => (
  <SelectField
    label="Approvals"
    hint="For calls that run commands or use the network."
    options={approvalOptions}
    {...form.bind('approvals')}
  />
);

const limitFields: Record<BudgetField, { label: string; hint: string; step: 1 | 'any' }> = {
  steps: { label: 'Step limit', hint: 'Model calls.', step: 1 },
  tokens: { label: 'Token limit', hint: 'Prompts and replies together.', step: 1 },
  dollars: { label: 'Spending limit ($)', hint: 'Needs a model with a known price.', step: 'any' },
  minutes: { label: 'Time limit (minutes)', hint: 'Wall-clock time.', step: 'any' },
};

export const BudgetFields = ({ form }: DefaultFieldsProps) =>
  budgetFields.map(({ name }) => {
    const { label, hint, step } = limitFields[name];
    return (
      <TextField
        key={name}
        label={label}
        hint={hint}
        type="number"
        min={step === 1 ? 1 : 0.01}
        step={step}
        placeholder="No limit"
        {...form.bind(name)}
      />
    );
  });

/** Buttons that add the hosts of package managers, which are listed below. */
function HostSets({ form: { values, change } }: DefaultFieldsProps) {
  const entries = splitList(values.hosts);
  const chosen = hostSetNames.filter((name) => entries.some((entry) => hostSetIn(entry) === name));
  const toggle = (name: HostSetName) => {
    const others = entries.filter((entry) => hostSetIn(entry) !== name);
    const hosts = chosen.includes(name) ? others : [...entries, `@${name}`];
    change({ hosts: hosts.join(', ') });
  };
  return (
    <fieldset className="space-y-1">
      <legend className="text-sm font-medium">
        Package managers, including their sources on GitHub
      </legend>
      <div className="flex flex-wrap gap-2">
        {hostSetNames.map((name) => (
          <Button
            key={name}
            small
            aria-pressed={chosen.includes(name)}
            look={chosen.includes(name) ? 'solid' : undefined}
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

const networkOptions = networkProfile.options.map((value) => ({
  value,
  label: networkProfiles[value].label,
}));

export const NetworkFields = ({ form }: DefaultFieldsProps) => (
  <>
    <SelectField
      label="Network"
      hint="The sandbox has no network interface; allowed traffic goes through the server. Hosts that are reached by HTTPS, including registries, can also be written to."
      options={networkOptions}
      {...form.bind('egress')}
    />
    <TextField
      label="Allowed hosts"
      hint="A name, name:port, *.name or a set such as @npm; read-only:name allows plain HTTP without uploads. Ignored without network."
      placeholder="api.example.com"
      {...form.bind('hosts')}
    />
    <HostSets form={form} />
  </>
);
