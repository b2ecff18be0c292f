import type { agentCalls, serverCalls } from '@belay/protocol';
import type { Rope } from '@belay/rope';

/** The agent's end of the rope. */
export type AgentRope = Rope<typeof agentCalls, typeof serverCalls>;
