import { readFileSync } from 'node:fs';
import { containerOf, type BelayServer } from '@belay/testkit';

/** Linux reports the processor time of processes in hundredths of a second. */
const tickMs = 10;

/**
 * Processor time of the server and a session’s container in milliseconds; other load does not
 * count.
 */
export async function processorTime(server: BelayServer, session: string): Promise<number> {
  const container = await containerOf(session);
  const { cpu_stats: of } = await container.stats({ stream: false, 'one-shot': true });
  return of.cpu_usage.total_usage / 1e6 + serverTime(server);
}

/** Processor time of the server alone in milliseconds. */
export function serverTime({ pid }: BelayServer): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * tickMs;
}
