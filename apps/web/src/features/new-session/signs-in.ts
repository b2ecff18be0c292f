import type { AgentChoice } from '@belay/protocol';
import type { SessionForm } from './session-form';

/** Whether the user signs in to the chosen agent; a remembered tick may be of another one. */
export const signsIn = (
  { login }: Pick<SessionForm, 'login'>,
  agent: AgentChoice | undefined,
): boolean => login && agent?.login !== undefined;
