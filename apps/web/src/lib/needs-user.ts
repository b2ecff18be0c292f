import { isEnded, type SessionSummary } from '@belay/protocol';

/** Whether a session waits for an approval or an answer. */
export const needsUser = ({ waitingFor, question, state }: SessionSummary): boolean =>
  !isEnded(state) && (waitingFor.length > 0 || question !== null);
