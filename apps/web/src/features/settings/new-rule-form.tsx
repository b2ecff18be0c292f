import { useQuery } from '@tanstack/react-query';
import { operations, pluralText, type NewRule } from '@belay/protocol';
import { PatternField } from '@/components/approvals/pattern-field';
import { optionsOf, SelectField } from '@/components/ui/field';
import { Form } from '@/components/ui/form';
import { mcpQuery } from '@/lib/queries';
import { client } from '@/lib/server';
import { toast } from '@/lib/toasts';
import { useForm } from '@/lib/use-form';
import type { Submitted } from '@/lib/use-submit';

const verdicts = optionsOf({ approved: 'Allow', rejected: 'Deny' });

const namedOption = (name: string) => ({ value: name, label: name });

const names = [
  'egress',
  ...Object.values(operations)
    .filter(({ risk }) => risk !== 'read')
    .map(({ name }) => name),
];

const emptyRule: NewRule = {
  scope: 'all',
  operation: 'terminal.run',
  pattern: '',
  verdict: 'approved',
  expires: null,
};

/** The form for a new rule, with the number of past calls it would have matched. */
export function NewRuleForm({ onMade }: { onMade(): Promise<void> }) {
  const { values: rule, change, bind } = useForm(emptyRule);
  const { data: servers = [] } = useQuery(mcpQuery);
  const preview = useQuery({
    queryKey: ['rule-preview', rule],
    queryFn: () => client.rules.preview(rule),
    enabled: rule.pattern.trim() !== '',
  });
  const create = async (): Promise<Submitted> => {
    await client.rules.create(rule);
    change({ pattern: '' });
    await onMade();
    toast('Rule created.');
    return 'again';
  };
  return (
    <Form
      submit="Create rule"
      onSubmit={create}
      aside={
        preview.data && (
          <span className="text-sm text-muted">
            Would match {pluralText(preview.data.matches, 'past call')}.
          </span>
        )
      }
    >
      <h2 className="font-medium">New rule for all sessions</h2>
      <div className="grid grid-cols-[120px_180px_1fr] gap-3 max-sm:grid-cols-1">
        <SelectField label="Decision" options={verdicts} {...bind('verdict')} />
        <SelectField
          label="Operation"
          options={[...names, ...servers.map(({ name }) => `mcp.${name}.*`)].map(namedOption)}
          {...bind('operation')}
        />
        <PatternField label="Pattern" {...bind('pattern')} />
      </div>
    </Form>
  );
}
