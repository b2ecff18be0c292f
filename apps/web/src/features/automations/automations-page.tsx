import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Page } from '@/components/page';
import { Button } from '@/components/ui/button';
import { Empty } from '@/components/ui/empty';
import { QueryState } from '@/components/ui/query-state';
import { useSeeAutomationNotices } from '@/lib/automation-notices';
import { useReadOnlySettings } from '@/lib/role';
import { AutomationRow } from './automation-row';
import { NewAutomation } from './new-automation';
import { automationsQuery } from './queries';
import { Sources } from './sources';

/** The automations, with a form to add one, and the repositories that they follow. */
export function AutomationsPage() {
  const readOnly = useReadOnlySettings();
  const automations = useQuery(automationsQuery);
  useSeeAutomationNotices();
  const [adding, setAdding] = useState(false);
  return (
    <Page title="Automations · Belay" className="overflow-y-auto">
      <div className="mx-auto max-w-3xl space-y-4 p-6 max-sm:p-4">
        <div className="flex items-center justify-between gap-3">
          <h1 className="text-xl font-semibold">Automations</h1>
          {!readOnly && !adding && <Button onClick={() => setAdding(true)}>New automation</Button>}
        </div>
        <p className="text-sm text-muted">
          An automation begins sessions by itself: when something happens at a git host, at a time,
          on a request, or when another session ends. Who may begin it, what it may cost and what
          may come out are in its definition, and the server holds to it.
        </p>
        {adding && <NewAutomation onClose={() => setAdding(false)} />}
        <QueryState query={automations} what="the automations" />
        {automations.data?.length === 0 && !adding && (
          <Empty title="No automations">
            Begin with one of the jobs that come with Belay, such as the nightly task, or add a file
            with <code>belay automations add FILE</code>.
          </Empty>
        )}
        {automations.data !== undefined && automations.data.length > 0 && (
          <ul aria-label="Automations" className="divide-y rounded-md border bg-panel">
            {automations.data.map((automation) => (
              <AutomationRow key={automation.name} automation={automation} />
            ))}
          </ul>
        )}
        <Sources />
      </div>
    </Page>
  );
}
