import { isEnded, type SessionSummary } from './session.js';

/** Whether a session waits for an approval, an answer, or a user who makes its model usable again. */
export const needsUser = ({
  state,
  waitingFor,
  question,
  modelError,
}: Pick<SessionSummary, 'state' | 'waitingFor' | 'question' | 'modelError'>): boolean =>
  !isEnded(state) && (waitingFor.length > 0 || question !== null || modelError?.retryAt === null);
