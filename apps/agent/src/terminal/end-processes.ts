import { setTimeout as sleep } from 'node:timers/promises';
import { signalAll, type Process } from './process-tree.js';

/** After this, what does not even end when killed is left: it hangs in the kernel. */
const patience = 5_000;

/**
 * Ends processes: asks first when there is `grace` (in ms), then kills until none is left, also those that are born
 * meanwhile. `find` is asked anew each time.
 */
export async function endProcesses(find: () => Process[], grace: number): Promise<void> {
  if (grace > 0) {
    const asked = find();
    signalAll(asked, 'SIGTERM');
    signalAll(asked, 'SIGCONT');
    const until = Date.now() + grace;
    while (Date.now() < until && find().length > 0) await sleep(20);
  }
  const until = Date.now() + patience;
  for (let quiet = 0; quiet < 2 && Date.now() < until;) {
    const left = find();
    signalAll(left, 'SIGKILL');
    quiet = left.length === 0 ? quiet + 1 : 0;
    await sleep(left.length === 0 ? 5 : 10);
  }
}
