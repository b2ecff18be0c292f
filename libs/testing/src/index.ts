export { eventually } from './eventually.js';
export { fastestMs } from './fastest.js';
export { memoryInUse } from './memory.js';
export { pause, staysTrue } from './pauses.js';
export { until, type UntilOptions } from './until.js';
