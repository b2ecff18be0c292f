import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { operations, pluralText, type NewRule as Rule } from '@belay/protocol';
import { PatternField } from '@/components/approvals/pattern-field';
import { Button } from '@/components/ui/button';
import { Field, Select } from '@/components/ui/field';
import { mcpQuery } from '@/lib/queries';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';

const names = [
  'egress',
  ...Object.values(operations)
    .filter(({ risk }) => risk !== 'read')
    .map(({ name }) => name),
];

/** The form of a new rule, with a preview of past calls that it matches. */
export function NewRule({ onMade }: { onMade(): Promise<void> }) {
  const [operation, setOperation] = useState('terminal.run');
  const [pattern, setPattern] = useState('');
  const [verdict, setVerdict] = useState<Rule['verdict']>('approved');
  const { data: servers = [] } = useQuery(mcpQuery);
  const rule: Rule = { scope: 'all', operation, pattern, verdict, expires: null };
  const preview = useQuery({
    queryKey: ['rule-preview', rule],
    queryFn: () => client.rules.preview(rule),
    enabled: pattern.trim() !== '',
  });
  const make = () =>
    attempt(async () => {
      await client.rules.create(rule);
      setPattern('');
      await onMade();
    }, 'Rule created.');
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        make();
      }}
    >
      <h2 className="font-medium">New rule for all sessions</h2>
      <div className="grid grid-cols-[120px_180px_1fr] gap-3 max-sm:grid-cols-1">
        <Field label="Decision">
          <Select
            value={verdict}
            onChange={(event) => setVerdict(event.target.value as Rule['verdict'])}
          >
            <option value="approved">Allow</option>
            <option value="rejected">Deny</option>
          </Select>
        </Field>
        <Field label="Operation">
          <Select value={operation} onChange={(event) => setOperation(event.target.value)}>
            {[...names, ...servers.map(({ name }) => `mcp.${name}.*`)].map((name) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
        </Field>
        <PatternField
          label="Pattern"
          value={pattern}
          onChange={(event) => setPattern(event.target.value)}
        />
      </div>
      <div className="flex items-center gap-3">
        <Button type="submit" small look="solid">
          Create rule
        </Button>
        {preview.data && (
          <span className="text-sm text-muted">
            Would match {pluralText(preview.data.matches, 'past call')}.
          </span>
        )}
      </div>
    </form>
  );
}
