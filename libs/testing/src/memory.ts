import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** The memory of this process after a garbage collection; most of it may be garbage before. */
export function memoryInUse(): NodeJS.MemoryUsage {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // ArrayBuffers found by the first collection are freed in the background, at the latest before
  // the second.
  collect();
  collect();
  return process.memoryUsage();
}

/** The bytes that this process keeps: its heap and what it holds outside it, without garbage. */
export function keptBytes(): number {
  const { external, heapUsed } = memoryInUse();
  return external + heapUsed;
}
