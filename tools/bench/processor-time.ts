import { readFileSync } from 'node:fs';
import { containerOf, type BelayServer } from '@belay/testkit';

/** Linux counts processor time in hundredths of a second for programs. */
const tickMs = 10;

/** Milliseconds that the server and a session's container have had a processor: other load does not change them. */
export async function processorTime(server: BelayServer, session: string): Promise<number> {
  const container = await containerOf(session);
  const { cpu_stats: of } = await container.stats({ stream: false, 'one-shot': true });
  const [user, system] = readFileSync(`/proc/${server.pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .slice(11, 13);
  return of.cpu_usage.total_usage / 1e6 + (Number(user) + Number(system)) * tickMs;
}
