import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The memory of this process without what nothing refers to any more; uncollected, that may be most of it. */
export function memoryInUse(): NodeJS.MemoryUsage {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // What the first one finds of ArrayBuffers is freed beside the program, at the latest before the second.
  collect();
  collect();
  return process.memoryUsage();
}
