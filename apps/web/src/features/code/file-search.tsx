import { useDeferredValue, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Loading } from '@/components/ui/empty';
import { Input } from '@/components/ui/field';
import { VirtualList } from '@/components/ui/virtual-list';
import { VisibleText } from '@/components/ui/visible-text';
import { FilesFailed } from '@/features/session-files/files-failed';
import type { FileMatches } from '@/features/session-files/files-query';
import { showFile } from '@/lib/panel-links';
import { useSessionId, useView } from '@/features/session-log/session-context';
import { pluralText, visibleText } from '@belay/protocol';
import { client } from '@/lib/server';

type Match = FileMatches['matches'][number];
const keyOf = ({ path, line }: Match): string => `${path}:${line}`;

/** Searches the current files of the workspace for a text. */
export function FileSearch({ onClose }: { onClose(): void }) {
  const session = useSessionId();
  const commit = useView((view) => view.lastCommit?.args.commit ?? '');
  const [text, setText] = useState('');
  const wanted = useDeferredValue(text.trim());
  const found = useQuery({
    queryKey: ['search', session, commit, wanted],
    queryFn: () =>
      client.sessions.call(session, 'files.search', {
        pattern: wanted,
        literal: true,
        ignoreCase: true,
      }),
    enabled: wanted.length > 1,
    placeholderData: (before: FileMatches | undefined) => before,
    retry: 0,
  });
  const { matches = [], truncated } = found.data ?? {};
  return (
    <div className="flex h-full flex-col">
      <div className="p-1.5">
        <Input
          type="search"
          autoFocus
          aria-label="Text to find in files"
          placeholder="Text to find"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => event.key === 'Escape' && onClose()}
          className="h-6 border-transparent bg-sunken"
        />
      </div>
      {wanted.length > 1 && found.isPending && <Loading what="search results" />}
      {found.isError && <FilesFailed error={found.error} retry={() => void found.refetch()} />}
      {wanted.length > 1 && found.data && (
        <>
          <p role="status" className="px-2 pb-1 text-xs text-faint">
            {matches.length === 0
              ? 'No matches'
              : `${pluralText(matches.length, 'line')}${truncated ? ', and more' : ''}`}
          </p>
          <VirtualList
            items={matches}
            keyOf={keyOf}
            estimate={40}
            label="Search results"
            className="min-h-0 flex-1 overflow-auto"
            render={({ path, line, text: shown }) => (
              <button
                type="button"
                title={visibleText(`${path}:${line}`)}
                onClick={() => showFile(path, line)}
                className="block w-full px-2 py-0.5 text-left hover:bg-hover"
              >
                <span className="block truncate text-xs text-faint">
                  <VisibleText text={`${path}:${line}`} />
                </span>
                <span className="block truncate font-mono text-xs">
                  <VisibleText text={shown.trim()} />
                </span>
              </button>
            )}
          />
        </>
      )}
    </div>
  );
}
