import { useMemo } from 'react';
import { useNavigate } from '@tanstack/react-router';
import type { SessionSummary } from '@belay/protocol';
import { Choice } from '@/components/ui/choice';
import { Select } from '@/components/ui/field';
import { SearchField } from '@/components/ui/search-field';
import { dollars, plural } from '@/lib/format';
import type { FleetFilter } from './fleet-order';

const shows = [
  { value: 'all', label: 'All' },
  { value: 'active', label: 'Active' },
  { value: 'ended', label: 'Ended' },
  { value: 'archived', label: 'Archived' },
] as const;

interface FleetFiltersProps {
  sessions: readonly SessionSummary[];
  filter: FleetFilter;
}

export function FleetFilters({ sessions, filter }: FleetFiltersProps) {
  const navigate = useNavigate({ from: '/' });
  const narrow = (change: FleetFilter) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const tags = useMemo(
    () => [...new Set(sessions.flatMap(({ tags }) => tags))].toSorted(),
    [sessions],
  );
  const spent = sessions.reduce((sum, each) => sum + each.dollars, 0);
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-3 border-b px-4 py-2">
      <SearchField
        label="Filter sessions and search their logs"
        placeholder="Filter, and search all logs"
        value={filter.q}
        onChange={(q) => narrow({ q })}
        className="w-72"
      />
      <Choice
        label="Which sessions"
        value={filter.show ?? 'all'}
        options={shows}
        onChange={(show) => narrow({ show: show === 'all' ? undefined : show })}
      />
      {tags.length > 0 && (
        <Select
          aria-label="Tag"
          className="w-auto max-w-40"
          value={filter.tag ?? ''}
          onChange={(event) => narrow({ tag: event.target.value || undefined })}
        >
          <option value="">Any tag</option>
          {tags.map((tag) => (
            <option key={tag}>{tag}</option>
          ))}
        </Select>
      )}
      <p className="ml-auto text-sm text-faint tabular-nums max-md:hidden">
        {plural(sessions.length, 'session')} · {dollars(spent)} in all
      </p>
    </div>
  );
}
