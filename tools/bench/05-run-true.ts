import { containerOf, dockerExec, idleSession, withServer } from './platform.ts';
import { median, percentile, timed } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = '`terminal.run true` through the whole platform, beside `docker exec`';

export async function measure(): Promise<Row[]> {
  return withServer({}, async (server) => {
    const session = await idleSession(server);
    const container = await containerOf(session.id);
    const run = () => server.client.sessions.call(session.id, 'terminal.run', { command: 'true' });
    await timed(10, run);
    const samples = await timed(100, run);
    const floor = median(await timed(10, () => dockerExec(container, 'true')));
    session.close();
    return [
      { what: 'p50', figure: median(samples), unit: 'ms', target: Math.min(10, floor / 5), floor },
      { what: 'p95', figure: percentile(samples, 0.95), unit: 'ms', target: 25, floor },
    ];
  });
}
