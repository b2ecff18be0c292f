import { agentCalls, serverCalls } from '@belay/protocol';
import { dialRpc } from '@belay/rpc';
import type { AgentEnvironment } from './environment.js';
import type { ServerConnection } from './server-connection.js';

/** Dials the server; from then on the agent serves it, through any number of breaks. */
export function dialServer({ connection, token }: AgentEnvironment): ServerConnection {
  return dialRpc({ address: connection, token, serves: agentCalls, calls: serverCalls });
}
