import { isEnded } from '@belay/protocol';
import { useReadOnly } from '@/lib/role';
import { useSessionState } from './queries';
import { useIsPast, useSessionId } from './session-context';

/** Whether this person can act beside the agent now: not in the past, not after the end, not as a viewer. */
export function useActs(): boolean {
  const state = useSessionState(useSessionId());
  const readOnly = useReadOnly();
  const past = useIsPast();
  return !readOnly && !past && state !== undefined && !isEnded(state);
}
