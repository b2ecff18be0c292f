import type { agentCalls, serverCalls } from '@belay/protocol';
import type { RpcConnection } from '@belay/rpc';

/** The agent’s end of the connection. */
export type ServerConnection = RpcConnection<typeof agentCalls, typeof serverCalls>;
