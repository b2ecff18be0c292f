import { useEffect } from 'react';
import { queryOptions } from '@tanstack/react-query';
import type { EvaluationSummary, EvaluationTrial } from '@belay/protocol';
import { liveList } from '@/lib/live-list';
import { queryClient } from '@/lib/query-client';
import { client, live } from '@/lib/server';

const evaluations = liveList<EvaluationSummary>({
  name: 'evaluations',
  list: () => client.evaluations.list(),
  version: ({ reported }) => Date.parse(reported),
});
export const evaluationsQuery = evaluations.query;

/** The data that a run can be started with; the folder may have changed since the last visit. */
export const benchmarkDataQuery = queryOptions({
  queryKey: ['benchmark-data'],
  queryFn: () => client.evaluations.data(),
});

/** A run’s tasks, once it has read its data. Its summary comes with the live list of runs. */
export const evaluationQuery = (id: string) =>
  queryOptions({
    queryKey: ['evaluation', id],
    queryFn: () => client.evaluations.get(id),
    staleTime: Infinity,
    refetchInterval: ({ state: { data } }) =>
      data?.tasks.length === 0 && data.summary.state === 'running' ? 1_000 : false,
  });

export interface Trials {
  /** The number of the last report included. */
  seq: number;
  byKey: ReadonlyMap<string, EvaluationTrial>;
}

/** The current state of all trials; a refetch requests only what has changed since. */
export const trialsQuery = (id: string) => {
  const queryKey = ['evaluation', id, 'trials'];
  return queryOptions({
    queryKey,
    queryFn: async (): Promise<Trials> => {
      const known = queryClient.getQueryData<Trials>(queryKey);
      const { seq, trials } = await client.evaluations.trials(id, { after: known?.seq ?? 0 });
      const byKey = new Map(known?.byKey);
      for (const trial of trials) byKey.set(trialCellKey(trial.task, trial.attempt), trial);
      return { seq, byKey };
    },
    staleTime: Infinity,
    structuralSharing: false,
  });
};

/** The text of an answer or a test log. */
export const recordQuery = (id: string, blob: string) =>
  queryOptions({
    queryKey: ['evaluation', id, 'record', blob],
    queryFn: async () => new TextDecoder().decode(await client.evaluations.blob(id, blob)),
    staleTime: Infinity,
  });

export const trialCellKey = (task: string, attempt: number): string =>
  JSON.stringify([task, attempt]);

/** Applies the server’s updates to the cached list of runs while the component is mounted. */
export function useEvaluationUpdates(): void {
  useEffect(() => evaluations.follow((changed) => live().evaluations(changed)), []);
}
