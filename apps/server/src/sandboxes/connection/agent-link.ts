import type { agentCalls, serverCalls } from '@belay/protocol';
import type { RpcConnection } from '@belay/rpc';

/** The server’s end of an agent’s connection. */
export type AgentConnection = RpcConnection<typeof serverCalls, typeof agentCalls>;

/** The connection of an agent that works on a session. */
export type AgentLink = AgentConnection & { readonly session: string; readonly epoch: number };

export function agentLink(connection: AgentConnection, session: string, epoch: number): AgentLink {
  return Object.assign(connection, { session, epoch });
}
