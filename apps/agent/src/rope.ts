import { agentCalls, serverCalls } from '@belay/protocol';
import { dialRope } from '@belay/rope';
import type { Environment } from './environment.js';
import type { AgentRope } from './agent-rope.js';

/** Dials the server; from then on the agent serves it, through any number of breaks. */
export function connect({ rope, token }: Environment): AgentRope {
  return dialRope({ address: rope, token, serves: agentCalls, calls: serverCalls });
}
