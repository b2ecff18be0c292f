import { queryOptions } from '@tanstack/react-query';
import { endedRunStates, type AutomationRun } from '@belay/protocol';
import { client } from '@/lib/server';

/** How often lists are read again while the page is visible. */
const everyMs = 5_000;
/** The runs and deliveries that a page shows. */
export const mostRows = 100;

export const automationsQuery = queryOptions({
  queryKey: ['automations'],
  queryFn: () => client.automations.list(),
  refetchInterval: everyMs,
});

export const automationQuery = (name: string) =>
  queryOptions({
    queryKey: ['automations', name],
    queryFn: () => client.automations.get(name),
    refetchInterval: everyMs,
  });

export const definitionQuery = (name: string, version: number) =>
  queryOptions({
    queryKey: ['automations', name, 'text', version],
    queryFn: async () => new TextDecoder().decode(await client.automations.text(name)),
    staleTime: Infinity,
  });

export const versionsQuery = (name: string, version: number) =>
  queryOptions({
    queryKey: ['automations', name, 'versions', version],
    queryFn: () => client.automations.versions(name),
  });

/** The next times of a schedule, which are others once the next one has come. */
export const nextTimesQuery = (name: string, nextAt: string) =>
  queryOptions({
    queryKey: ['automations', name, 'next', nextAt],
    queryFn: () => client.automations.next(name, { count: 3 }),
  });

export const runsQuery = (name: string) =>
  queryOptions({
    queryKey: ['automations', name, 'runs'],
    queryFn: () => client.automations.history(name, { limit: mostRows }),
    refetchInterval: everyMs,
  });

export const deliveriesQuery = (name: string) =>
  queryOptions({
    queryKey: ['automations', name, 'deliveries'],
    queryFn: () => client.automations.deliveries(name, { limit: mostRows }),
    refetchInterval: everyMs,
  });

export const lanesQuery = (name: string) =>
  queryOptions({
    queryKey: ['automations', name, 'lanes'],
    queryFn: () => client.automations.lanes(name),
    refetchInterval: everyMs,
  });

export const explanationQuery = (run: string) =>
  queryOptions({
    queryKey: ['automation-run', run],
    queryFn: () => client.automations.explain(run),
    refetchInterval: ({ state: { data } }) => (data && isRunOver(data.run) ? false : 2_000),
  });

export const jobsQuery = queryOptions({
  queryKey: ['automation-jobs'],
  queryFn: () => client.automations.jobs(),
  staleTime: Infinity,
});

export const sourcesQuery = queryOptions({
  queryKey: ['automation-sources'],
  queryFn: () => client.automations.sources(),
});

/** Whether nothing of a run changes any more. */
export const isRunOver = ({ state }: Pick<AutomationRun, 'state'>): boolean =>
  endedRunStates.includes(state);
