import { isEnded } from '@belay/protocol';
import { useReadOnly } from '@/lib/role';
import { client } from '@/lib/server';
import { useIsPast, useSessionId } from '@/features/session-log/session-context';
import { summaryNow, useSessionState } from '@/lib/summaries';

/**
 * Whether the user can act in the sandbox: false for viewers and at past moments. An ended session
 * qualifies, since its sandbox can be restarted.
 */
export function useCanAct(): boolean {
  const state = useSessionState(useSessionId());
  const readOnly = useReadOnly();
  const past = useIsPast();
  return !readOnly && !past && state !== undefined;
}

/** Starts the sandbox of an ended session if necessary. Returns whether the session has ended. */
export async function ensureSandbox(session: string): Promise<boolean> {
  const summary = summaryNow(session);
  if (!summary || !isEnded(summary.state)) return false;
  await client.sessions.wake(session);
  return true;
}
