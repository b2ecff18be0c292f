import { idleSession, withServer } from './platform.mjs';
import { median, percentile } from './statistics.mjs';
import { countOnly } from './typist.mjs';

export const title = 'Ctrl-C during `yes` → the prompt is back';

export async function measure() {
  return withServer({}, async (server) => {
    const session = await idleSession(server);
    countOnly(session, 'main');
    const call = (operation, input) => server.client.sessions.call(session.id, operation, input);
    const samples = [];
    for (let run = 0; run < 20; run++) {
      await call('terminal.run', { command: 'yes', wait: 1 });
      const begun = performance.now();
      await call('terminal.interrupt', {});
      await call('terminal.run', { command: 'true' });
      samples.push(performance.now() - begun);
    }
    session.close();
    return [
      { what: 'median', figure: median(samples), unit: 'ms', target: 300 },
      { what: 'p95', figure: percentile(samples, 0.95), unit: 'ms', target: 300 },
    ];
  });
}
