import { useQuery } from '@tanstack/react-query';
import {
  exactPattern,
  pluralText,
  ruleMatches,
  visibleText,
  type ApprovalAnswer,
  type ApprovalRequest,
} from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { optionsOf, SelectField } from '@/components/ui/field';
import { VisibleText } from '@/components/ui/visible-text';
import { useAdmin } from '@/lib/role';
import { client } from '@/lib/server';
import { useForm } from '@/lib/use-form';
import { PatternField } from './pattern-field';
import { expiryTime, suggestPattern, type Expiry } from './rule-suggestion';

type Remember = NonNullable<ApprovalAnswer['remember']>;

const scopes = optionsOf({
  session: 'This session',
  workspace: 'This workspace',
  all: 'All sessions',
});
const expiries = optionsOf({ hour: 'In 1 hour', day: 'In 24 hours', never: 'Never expires' });

interface AlwaysFormProps {
  session: string;
  request: ApprovalRequest;
  onAnswer(remember: Remember): void;
  onCancel(): void;
}

/**
 * Creates a rule from an approval, with a preview of past calls it would have matched. Rules beyond
 * the session need the admin scope.
 */
export function AlwaysForm({ session, request, onAnswer, onCancel }: AlwaysFormProps) {
  const isAdmin = useAdmin();
  const { values, bind } = useForm<{ pattern: string; scope: Remember['scope']; expiry: Expiry }>({
    pattern: suggestPattern(request),
    scope: 'session',
    expiry: 'never',
  });
  const { pattern, scope, expiry } = values;
  const remember: Remember = {
    scope,
    operation: exactPattern(request.operation),
    pattern,
    expires: expiryTime(expiry),
  };
  const matches = ruleMatches({ ...remember, verdict: 'approved' }, request);
  const preview = useQuery({
    queryKey: ['rule-preview', session, scope, request.operation, pattern],
    queryFn: () => client.rules.preview({ ...remember, session, verdict: 'approved' }),
    enabled: pattern.trim() !== '' && matches,
  });
  return (
    <form
      className="grid max-w-2xl gap-2 rounded-md border border-line bg-panel p-2"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(remember);
      }}
    >
      <PatternField
        label={`Pattern for ${visibleText(request.operation)}`}
        autoFocus
        {...bind('pattern')}
      />
      <div className="grid grid-cols-2 gap-2">
        <SelectField
          label="Scope"
          options={isAdmin ? scopes : scopes.slice(0, 1)}
          {...bind('scope')}
        />
        <SelectField label="Expiry" options={expiries} {...bind('expiry')} />
      </div>
      {!matches && pattern.trim() !== '' && (
        <p role="alert" className="text-xs text-fail">
          This pattern does not match the call that you were asked about.
        </p>
      )}
      {matches && preview.data && (
        <p className="text-xs text-faint">
          Would match {pluralText(preview.data.matches, 'past call')}
          {preview.data.examples[0] && (
            <>
              , such as{' '}
              <code>
                <VisibleText text={preview.data.examples[0].subject} />
              </code>
            </>
          )}
          .
        </p>
      )}
      <div className="flex gap-2">
        <Button small look="amber" type="submit" disabled={!matches}>
          Always allow
        </Button>
        <Button small look="ghost" onClick={onCancel}>
          Back
        </Button>
      </div>
    </form>
  );
}
