import { isEnded, type SessionSummary } from './session.js';

/** Whether a session waits for an approval, an answer, a key in its terminal, or a user who makes its model usable. */
export const needsUser = ({
  state,
  waitingFor,
  question,
  modelError,
  attention,
}: Pick<
  SessionSummary,
  'state' | 'waitingFor' | 'question' | 'modelError' | 'attention'
>): boolean =>
  !isEnded(state) &&
  (waitingFor.length > 0 ||
    question !== null ||
    modelError?.retryAt === null ||
    attention !== null);
