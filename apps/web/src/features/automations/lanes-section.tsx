import { useQuery, useQueryClient } from '@tanstack/react-query';
import { pluralText, type AutomationInfo } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Empty } from '@/components/ui/empty';
import { QueryState } from '@/components/ui/query-state';
import { VisibleText } from '@/components/ui/visible-text';
import { useReadOnlySettings } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { lanesQuery } from './queries';

/** What holds for the next run of each subject. */
export function LanesSection({ automation: { name, definition } }: { automation: AutomationInfo }) {
  const lanes = useQuery(lanesQuery(name));
  const readOnly = useReadOnlySettings();
  const queries = useQueryClient();
  const reset = (key: string) =>
    attempt(async () => {
      await client.automations.resetLane(name, { key });
      await queries.invalidateQueries(lanesQuery(name));
    });
  return (
    <>
      <QueryState query={lanes} what="the lanes" />
      {lanes.data?.length === 0 && (
        <Empty title="No lanes yet">
          Each subject, such as one pull request, has a lane: one run at a time, at most{' '}
          {pluralText(definition.lane.attempts, 'attempt')} until you step in.
        </Empty>
      )}
      {lanes.data !== undefined && lanes.data.length > 0 && (
        <ul aria-label="Lanes" className="divide-y rounded-md border bg-panel text-sm">
          {lanes.data.map(({ key, running, attempts, stuck }) => (
            <li key={key} className="flex items-start justify-between gap-4 px-4 py-2.5">
              <span className="min-w-0">
                <span className="block font-medium break-words">
                  <VisibleText text={key} />
                </span>
                <span className="block text-muted tabular-nums">
                  {attempts} of {pluralText(definition.lane.attempts, 'attempt')}
                  {running !== null && ' · running'}
                </span>
                {stuck !== null && (
                  <span className="block break-words text-amber">
                    <VisibleText text={stuck} />
                  </span>
                )}
              </span>
              {!readOnly && (stuck !== null || attempts > 0) && running === null && (
                <Button small onClick={() => reset(key)} aria-label={`Reset ${key}`}>
                  Reset
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
