import { isEnded } from '@belay/protocol';
import { useReadOnly } from '@/lib/role';
import { client } from '@/lib/server';
import { useIsPast, useSessionId } from '@/features/session-log/session-context';
import { summaryNow, useSessionState } from '@/lib/summaries';

/** Whether the user can act in the sandbox: not in the past, and not as a viewer. An ended sandbox is started again. */
export function useCanAct(): boolean {
  const state = useSessionState(useSessionId());
  const readOnly = useReadOnly();
  const past = useIsPast();
  return !readOnly && !past && state !== undefined;
}

/** Starts the sandbox of an ended session where it is gone; true when the session has ended. */
export async function ensureSandbox(session: string): Promise<boolean> {
  const summary = summaryNow(session);
  if (!summary || !isEnded(summary.state)) return false;
  await client.sessions.wake(session);
  return true;
}
