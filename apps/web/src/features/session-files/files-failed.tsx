import { useState } from 'react';
import { errorFrom, isEnded } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Empty, Failed } from '@/components/ui/empty';
import { queryClient } from '@/lib/query-client';
import { useReadOnly } from '@/lib/role';
import { client } from '@/lib/server';
import { attempt } from '@/lib/toasts';
import { useSessionId } from '@/features/session-log/session-context';
import { useSessionState } from '@/lib/summaries';

interface FilesFailedProps {
  error: unknown;
  retry(): void;
}

/** Why the files cannot be shown. An ended sandbox is restarted only at the user’s request. */
export function FilesFailed({ error, retry }: FilesFailedProps) {
  const id = useSessionId();
  const state = useSessionState(id);
  const readOnly = useReadOnly();
  const [waking, setWaking] = useState(false);
  const asleep = state !== undefined && isEnded(state) && errorFrom(error).code === 'conflict';
  if (!asleep) return <Failed error={error} retry={retry} />;
  const wake = () => {
    setWaking(true);
    attempt(async () => {
      await client.sessions.wake(id).finally(() => setWaking(false));
      // Other panels’ queries failed for the same reason.
      await queryClient.refetchQueries({
        predicate: ({ queryKey, state: { status } }) => queryKey[1] === id && status === 'error',
      });
    });
  };
  return (
    <Empty title="The sandbox has ended">
      <p>Its files are kept.</p>
      {!readOnly && (
        <Button small className="mt-2" disabled={waking} onClick={wake}>
          {waking ? 'Starting…' : 'Start sandbox to view files'}
        </Button>
      )}
    </Empty>
  );
}
