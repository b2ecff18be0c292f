import type { StopReason } from '@agentclientprotocol/sdk';
import type { TurnEnd } from '@belay/protocol';

/** How a turn ended, by what the program says. */
export const turnEnds: Record<StopReason, TurnEnd> = {
  end_turn: 'done',
  refusal: 'refused',
  max_tokens: 'cut',
  max_turn_requests: 'cut',
  cancelled: 'cancelled',
};

/** What stopped the work, after the agent’s name. */
export const turnFailures: Partial<Record<StopReason, string>> = {
  refusal: 'refused to go on. Send a message that asks for something else.',
  max_tokens: 'reached the longest reply of its model. Send a message to go on.',
  max_turn_requests: 'made as many requests as it may in one turn. Send a message to go on.',
};
