import { containerOf, start } from '@belay/testkit';
import { percentile } from '../bench-table.mjs';
import { idleScript, sample, timed, withServer } from './setting.mjs';

export const title = 'a command through the platform';

export function measure() {
  return withServer({}, async (server) => {
    const session = await start(server, { task: 'Wait', model: idleScript(server) });
    await session.state('waiting');
    const run = () => server.client.sessions.call(session.id, 'terminal.run', { command: 'true' });
    const samples = await sample(200, async () => void (await run()), { warm: 20 });
    const { id } = await containerOf(session.id);
    const exec = ['exec', id, '/bin/true'];
    const floor = percentile(await sample(20, () => timed('docker', exec)), 0.5);
    session.close();
    const p50 = percentile(samples, 0.5);
    const common = { unit: 'ms', floor };
    return [
      {
        what: 'terminal.run true, p50 over docker exec',
        value: p50,
        most: 10,
        mostRatio: 0.2,
        ...common,
      },
      { what: 'terminal.run true, p95', value: percentile(samples, 0.95), unit: 'ms', most: 25 },
    ];
  });
}
