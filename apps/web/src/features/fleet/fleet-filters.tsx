import { useMemo, type ReactNode } from 'react';
import { useNavigate } from '@tanstack/react-router';
import type { SessionSummary } from '@belay/protocol';
import { Choice } from '@/components/ui/choice';
import { optionsOf, Select } from '@/components/ui/field';
import { SearchField } from '@/components/ui/search-field';
import { usePreferences } from '@/lib/preferences';
import type { FleetFilter } from './fleet-order';

const shows = optionsOf({
  all: 'All',
  waiting: 'Needs you',
  active: 'Active',
  ended: 'Ended',
  archived: 'Archived',
});

const views = optionsOf({ list: 'List', board: 'Board' });

interface FleetFiltersProps {
  sessions: readonly SessionSummary[];
  filter: FleetFilter;
  children: ReactNode;
}

/**
 * Filters and order of the fleet. Choices add an entry to the browser’s history, typing does not.
 */
export function FleetFilters({ sessions, filter, children }: FleetFiltersProps) {
  const navigate = useNavigate({ from: '/' });
  const narrow = (change: FleetFilter, replace = false) =>
    void navigate({ search: (now: FleetFilter) => ({ ...now, ...change }), replace });
  const board = usePreferences((state) => state.board);
  const tags = useMemo(
    () => [...new Set(sessions.flatMap(({ tags }) => tags))].toSorted(),
    [sessions],
  );
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-2 border-b px-4 py-2">
      <SearchField
        id="fleet-search"
        label="Filter sessions and search their logs"
        placeholder="Filter and search logs"
        value={filter.q}
        onChange={(q) => narrow({ q }, true)}
        className="w-64"
      />
      {!board && (
        <Choice
          label="Which sessions"
          value={filter.show ?? 'all'}
          options={shows}
          onChange={(show) => narrow({ show: show === 'all' ? undefined : show })}
        />
      )}
      {tags.length > 0 && (
        <Select
          aria-label="Tag"
          className="w-auto max-w-36"
          value={filter.tag ?? ''}
          onChange={(event) => narrow({ tag: event.target.value || undefined })}
        >
          <option value="">Any tag</option>
          {tags.map((tag) => (
            <option key={tag}>{tag}</option>
          ))}
        </Select>
      )}
      {!board && (
        <Select
          aria-label="Sort"
          className="w-auto"
          value={filter.sort ?? ''}
          onChange={({ target }) =>
            narrow({ sort: (target.value || undefined) as FleetFilter['sort'] })
          }
        >
          <option value="">Needs attention first</option>
          <option value="tag">By tag</option>
          <option value="newest">Newest first</option>
          <option value="cost">Highest cost first</option>
          <option value="steps">Highest step count first</option>
        </Select>
      )}
      <Choice
        label="View"
        value={board ? 'board' : 'list'}
        options={views}
        onChange={(view) => usePreferences.getState().set({ board: view === 'board' })}
      />
      {children}
    </div>
  );
}
