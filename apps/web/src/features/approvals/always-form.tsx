import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { ApprovalAnswer, ApprovalRequest } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Field, Input, Select } from '@/components/ui/field';
import { plural } from '@/lib/format';
import { client } from '@/lib/server';
import { expiryTime, suggestPattern, type Expiry } from './rule-suggestion';

type Remember = NonNullable<ApprovalAnswer['remember']>;

interface AlwaysFormProps {
  session: string;
  request: ApprovalRequest;
  onAnswer(remember: Remember): void;
  onCancel(): void;
}

/** Makes a rule of one answer, showing first what the rule would have decided before. */
export function AlwaysForm({ session, request, onAnswer, onCancel }: AlwaysFormProps) {
  const [pattern, setPattern] = useState(() => suggestPattern(request));
  const [scope, setScope] = useState<Remember['scope']>('session');
  const [expiry, setExpiry] = useState<Expiry>('never');
  const remember: Remember = {
    scope,
    operation: request.operation,
    pattern,
    expires: expiryTime(expiry),
  };
  const preview = useQuery({
    queryKey: ['rule-preview', session, scope, request.operation, pattern],
    queryFn: () => client.rules.preview({ ...remember, session, verdict: 'approved' }),
    enabled: pattern !== '',
  });
  return (
    <form
      className="grid gap-2 rounded-md border border-line bg-panel p-2"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(remember);
      }}
    >
      <Field label={`Allow ${request.operation} when it matches`} hint="* stands for any text.">
        <Input
          autoFocus
          required
          className="font-mono text-xs"
          value={pattern}
          onChange={(event) => setPattern(event.target.value)}
        />
      </Field>
      <div className="grid grid-cols-2 gap-2">
        <Field label="Where">
          <Select
            value={scope}
            onChange={(event) => setScope(event.target.value as Remember['scope'])}
          >
            <option value="session">In this session</option>
            <option value="workspace">In this workspace</option>
            <option value="all">Everywhere</option>
          </Select>
        </Field>
        <Field label="Until">
          <Select value={expiry} onChange={(event) => setExpiry(event.target.value as Expiry)}>
            <option value="hour">In an hour</option>
            <option value="day">Tomorrow</option>
            <option value="never">I revoke it</option>
          </Select>
        </Field>
      </div>
      {preview.data && (
        <p className="text-xs text-faint">
          It would have decided {plural(preview.data.matches, 'past call')}
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
          Allow always
        </Button>
        <Button small look="ghost" onClick={onCancel}>
          Back
        </Button>
      </div>
    </form>
  );
}
