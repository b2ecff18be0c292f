import { useQuery, useQueryClient } from '@tanstack/react-query';
import { exactText, ageText, pluralText, dateTimeText, type Rule } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Empty } from '@/components/ui/empty';
import { VisibleText } from '@/components/ui/visible-text';
import { QueryState } from '@/components/ui/query-state';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { ApprovalDefault } from './default-settings';
import { NewRuleForm } from './new-rule-form';

const rulesKey = ['rules'];

/** The rules that answer approval requests automatically, and a form for a new one. */
export function RuleSettings() {
  const rules = useQuery({ queryKey: rulesKey, queryFn: () => client.rules.list() });
  const cache = useQueryClient();
  const again = () => cache.invalidateQueries({ queryKey: rulesKey });
  return (
    <div className="space-y-6">
      <ApprovalDefault />
      <section aria-label="Rules" className="space-y-3">
        <h2 className="font-medium">Rules</h2>
        <QueryState query={rules} what="the rules" />
        {rules.data?.length === 0 && (
          <Empty title="No rules">
            Choose “Always…” on a request to create one, or create one below.
          </Empty>
        )}
        <ul className="divide-y rounded-md border bg-panel empty:hidden">
          {rules.data?.map((rule) => (
            <RuleLine
              key={rule.id}
              rule={rule}
              onRevoke={() =>
                attempt(async () => {
                  await client.rules.remove(rule.id);
                  await again();
                }, 'Revoked. You’ll be asked again.')
              }
            />
          ))}
        </ul>
      </section>
      <NewRuleForm onMade={again} />
    </div>
  );
}

const scopes = { session: 'in one session', workspace: 'in one workspace', all: 'everywhere' };

function RuleLine({ rule, onRevoke }: { rule: Rule; onRevoke(): void }) {
  const exact = exactText(rule.pattern);
  return (
    <li className="flex items-center justify-between gap-4 px-3 py-2">
      <div className="min-w-0">
        <p className="text-sm">
          <span className={rule.verdict === 'approved' ? 'text-pass' : 'text-fail'}>
            {rule.verdict === 'approved' ? 'Allow' : 'Deny'}
          </span>{' '}
          <VisibleText text={exactText(rule.operation) ?? rule.operation} />
          {exact === null ? ' ' : ' exactly '}
          <code className="break-all">
            <VisibleText text={exact ?? rule.pattern} />
          </code>
        </p>
        <p className="text-xs text-faint">
          {scopes[rule.scope]} · used {pluralText(rule.uses, 'time')} · {ageText(rule.created)} old
          {rule.expires && ` · until ${dateTimeText(rule.expires)}`}
        </p>
      </div>
      <Button small look="danger" onClick={onRevoke}>
        Revoke
      </Button>
    </li>
  );
}
