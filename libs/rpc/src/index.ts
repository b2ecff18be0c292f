export { jsonTextFault } from './json-text.js';
export { dialRpc, agentPath, type Dial } from './dial.js';
export { memoryConnections, type MemoryConnections } from './memory.js';
export * from './connection.js';
export { rpcServer, type RpcServer, type RpcServerOptions } from './server.js';
export { relayAgent, type Relay, type RelayOptions } from './relay.js';
export { refuse } from './waiting-connections.js';
export { whileTransferring } from './transfer.js';
