export { dialRope, ropePath, type Dial } from './dial.js';
export { memoryRopes, type MemoryRopes } from './memory.js';
export * from './rope.js';
export type { Ends } from './rope-end.js';
export { ropeServer, type RopeServer, type RopeServerOptions } from './server.js';
