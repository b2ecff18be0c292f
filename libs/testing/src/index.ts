export { eventually } from './eventually.js';
export { freePort } from './free-port.js';
export { itLong, longTestsOf, sampled } from './long.js';
export { keptBytes, memoryInUse } from './memory.js';
export { openFilesBelow } from './open-files.js';
export { pause, staysTrue } from './pauses.js';
export { PostgresCluster } from './postgres-cluster.js';
export { longestStallMs, processorMs, processorMsUntil } from './processor-time.js';
export { until, type UntilOptions } from './until.js';
