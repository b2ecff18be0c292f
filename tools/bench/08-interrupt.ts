import { idleSession, withServer } from './platform.ts';
import { median, percentile } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = 'Ctrl-C during `yes` → the prompt is back';

export async function measure(): Promise<Row[]> {
  return withServer({}, async (server) => {
    const session = await idleSession(server);
    session.countOnly('main');
    const { sessions } = server.client;
    const samples = [];
    for (let run = 0; run < 20; run++) {
      await sessions.call(session.id, 'terminal.run', { command: 'yes', wait: 1 });
      const begun = performance.now();
      await sessions.call(session.id, 'terminal.interrupt', {});
      await sessions.call(session.id, 'terminal.run', { command: 'true' });
      samples.push(performance.now() - begun);
    }
    session.close();
    return [
      { what: 'median', figure: median(samples), unit: 'ms', target: 300 },
      { what: 'p95', figure: percentile(samples, 0.95), unit: 'ms', target: 300 },
    ];
  });
}
