export { jsonTextFault } from './json-text-fault.js';
export { dialRpc, agentPath, type Dial } from './dial.js';
export { memoryConnections, type MemoryConnections } from './memory-connections.js';
export * from './connection.js';
export { rpcServer, type RpcServer, type RpcServerOptions } from './server.js';
export { relayAgent, type Relay, type RelayOptions } from './relay.js';
export { refuse } from './waiting-connections.js';
export { whileTransferring } from './while-transferring.js';
