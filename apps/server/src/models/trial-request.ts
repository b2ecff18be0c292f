import type { ModelRequest } from '@belay/protocol';

/** With this, a user tries whether a model can be called. */
export const trialRequest: ModelRequest = {
  purpose: 'turn',
  messages: [{ role: 'user', text: 'Answer with the one word “ready”.', images: [] }],
  operations: [],
};
