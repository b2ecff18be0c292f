import { agentCalls, serverCalls } from '@belay/protocol';
import { dialRpc } from '@belay/rpc';
import type { AgentEnvironment } from './environment.js';
import type { ServerConnection } from './server-connection.js';

/** Connects to the server; from then on, the agent serves its calls and reconnects as often as necessary. */
export function dialServer({ connection, token, authority }: AgentEnvironment): ServerConnection {
  return dialRpc({
    address: connection,
    token,
    authority,
    serves: agentCalls,
    calls: serverCalls,
  });
}
