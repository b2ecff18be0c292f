import { useNavigate } from '@tanstack/react-router';
import type { EvaluationSummary } from '@belay/protocol';
import { Choice } from '@/components/ui/choice';
import { optionsOf } from '@/components/ui/field';
import { SearchField } from '@/components/ui/search-field';
import type { TrialFilter } from './task-rows';

const shows = optionsOf({
  all: 'All',
  pass: 'Passed',
  fail: 'Failed',
  invalid: 'Invalid',
  running: 'Running',
  queued: 'Queued',
});

export function TrialFilters({ run, filter }: { run: EvaluationSummary; filter: TrialFilter }) {
  const navigate = useNavigate({ from: '/evaluations/$id' });
  const narrow = (change: TrialFilter) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-3 border-b px-4 py-2">
      <SearchField
        label="Filter tasks"
        placeholder={`Filter ${run.tasks} tasks`}
        value={filter.q}
        onChange={(q) => narrow({ q })}
        className="w-56"
      />
      <div className="max-w-full overflow-x-auto">
        <Choice
          label="Which trials"
          value={filter.show ?? 'all'}
          options={shows}
          onChange={(show) => narrow({ show: show === 'all' ? undefined : show })}
        />
      </div>
    </div>
  );
}
