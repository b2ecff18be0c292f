import type { agentCalls, serverCalls } from '@belay/protocol';
import type { Rope } from '@belay/rope';

/** The server's end of an agent's rope. */
export type AgentRope = Rope<typeof serverCalls, typeof agentCalls>;

/** The rope of an agent that works on a session. */
export type AgentLink = AgentRope & { readonly session: string; readonly epoch: number };

export function agentLink(rope: AgentRope, session: string, epoch: number): AgentLink {
  return Object.assign(rope, { session, epoch });
}
