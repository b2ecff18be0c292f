import { useNavigate } from '@tanstack/react-router';
import type { EvaluationSummary } from '@belay/protocol';
import { Search } from 'lucide-react';
import { Choice } from '@/components/ui/choice';
import { Input } from '@/components/ui/field';
import type { TrialFilter } from './task-rows';

const shows = [
  { value: 'all', label: 'All' },
  { value: 'pass', label: 'Passed' },
  { value: 'fail', label: 'Failed' },
  { value: 'invalid', label: 'Invalid' },
  { value: 'running', label: 'Running' },
  { value: 'queued', label: 'Queued' },
] as const;

export function TrialFilters({ run, filter }: { run: EvaluationSummary; filter: TrialFilter }) {
  const navigate = useNavigate({ from: '/evaluations/$id' });
  const narrow = (change: TrialFilter) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-3 border-b px-4 py-2">
      <div className="relative w-56 max-sm:w-full">
        <Search size={14} aria-hidden className="absolute top-2 left-2 text-faint" />
        <Input
          type="search"
          aria-label="Filter tasks"
          placeholder={`Filter ${run.tasks} tasks`}
          defaultValue={filter.q ?? ''}
          onChange={(event) => narrow({ q: event.target.value || undefined })}
          className="pl-7"
        />
      </div>
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
