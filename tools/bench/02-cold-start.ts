import { follow, playing, rawStart, withServer } from './platform.ts';
import { median } from './statistics.ts';
import type { Row } from '../bench-table.ts';

export const title = 'cold start: no agent kept ready, image present, hardened';

/** Bare and whole starts alternate, so that both run under the same load. */
export async function measure(): Promise<Row[]> {
  return withServer({ BELAY_POOL: '0' }, async (server) => {
    const model = playing(server, [
      { calls: [{ operation: 'terminal.run', input: { command: 'echo first-output' } }] },
      { finish: 'done' },
    ]);
    const raw = [];
    const whole = [];
    for (let run = 0; run < 6; run++) {
      raw.push(await rawStart());
      const begun = performance.now();
      const { id } = await server.client.sessions.create({
        task: 'Echo',
        model,
        approvals: 'auto',
      });
      const session = follow(server, id);
      await session.until(() => session.terminal().includes('first-output'), 'the first output');
      whole.push(performance.now() - begun);
      await session.ended();
      session.close();
      await server.client.sessions.remove(id);
    }
    const floor = median(raw);
    return [{ what: 'median', figure: median(whole), unit: 'ms', target: floor + 150, floor }];
  });
}
