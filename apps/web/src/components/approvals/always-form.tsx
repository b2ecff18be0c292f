import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import {
  exactPattern,
  pluralText,
  type ApprovalAnswer,
  type ApprovalRequest,
} from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Field, Select } from '@/components/ui/field';
import { useAdmin } from '@/lib/role';
import { client } from '@/lib/server';
import { PatternField } from './pattern-field';
import { expiryTime, suggestPattern, type Expiry } from './rule-suggestion';

type Remember = NonNullable<ApprovalAnswer['remember']>;

interface AlwaysFormProps {
  session: string;
  request: ApprovalRequest;
  onAnswer(remember: Remember): void;
  onCancel(): void;
}

/** Makes a rule of one answer, showing first what the rule would have decided before. A wider one takes the scope admin. */
export function AlwaysForm({ session, request, onAnswer, onCancel }: AlwaysFormProps) {
  const isAdmin = useAdmin();
  const [pattern, setPattern] = useState(() => suggestPattern(request));
  const [scope, setScope] = useState<Remember['scope']>('session');
  const [expiry, setExpiry] = useState<Expiry>('never');
  const remember: Remember = {
    scope,
    operation: exactPattern(request.operation),
    pattern,
    expires: expiryTime(expiry),
  };
  const preview = useQuery({
    queryKey: ['rule-preview', session, scope, request.operation, pattern],
    queryFn: () => client.rules.preview({ ...remember, session, verdict: 'approved' }),
    enabled: pattern.trim() !== '',
  });
  return (
    <form
      className="grid gap-2 rounded-md border border-line bg-panel p-2"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(remember);
      }}
    >
      <PatternField
        label={`Pattern for ${request.operation}`}
        autoFocus
        value={pattern}
        onChange={(event) => setPattern(event.target.value)}
      />
      <div className="grid grid-cols-2 gap-2">
        <Field label="Scope">
          <Select
            value={scope}
            onChange={(event) => setScope(event.target.value as Remember['scope'])}
          >
            <option value="session">This session</option>
            {isAdmin && <option value="workspace">This workspace</option>}
            {isAdmin && <option value="all">All sessions</option>}
          </Select>
        </Field>
        <Field label="Expiry">
          <Select value={expiry} onChange={(event) => setExpiry(event.target.value as Expiry)}>
            <option value="hour">In 1 hour</option>
            <option value="day">In 24 hours</option>
            <option value="never">Never expires</option>
          </Select>
        </Field>
      </div>
      {preview.data && (
        <p className="text-xs text-faint">
          Would match {pluralText(preview.data.matches, 'past call')}
          {preview.data.examples[0] && (
            <>
              , such as <code>{preview.data.examples[0].subject}</code>
            </>
          )}
          .
        </p>
      )}
      <div className="flex gap-2">
        <Button small look="amber" type="submit">
          Always allow
        </Button>
        <Button small look="ghost" onClick={onCancel}>
          Back
        </Button>
      </div>
    </form>
  );
}
