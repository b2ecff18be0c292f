import { idleSession, withServer } from './platform.ts';
import { percentile, timed } from './statistics.ts';
import { typist } from './typist.ts';
import type { Row } from '../bench-table.ts';

export const title = 'keystroke → its echo on the dashboard socket';

/** The floor is a request over the same socket that makes the server do nothing. */
export async function measure(): Promise<Row[]> {
  return withServer({}, async (server) => {
    const session = await idleSession(server);
    const { live } = server;
    const echoed = await typist(server, session);
    await timed(5, echoed);
    const quiet = await timed(60, echoed);
    await live.request('terminal.open', { session: session.id, terminal: 'flood' });
    await live.request('terminal.hold', { session: session.id, terminal: 'flood', holder: 'user' });
    const flood = (data: string) =>
      live.request('terminal.keys', { session: session.id, terminal: 'flood', data });
    const flooded = session.countOnly('flood');
    await flood('yes\r');
    await session.until(() => flooded() > 1_000_000, 'the flood');
    const busy = await timed(60, echoed);
    await flood('\u0003');
    const floor = percentile(await timed(60, () => live.request('fleet', {})), 0.95);
    session.close();
    return [
      { what: 'p95 quiet', figure: percentile(quiet, 0.95), unit: 'ms', target: 15, floor },
      {
        what: 'p95 while `yes` runs',
        figure: percentile(busy, 0.95),
        unit: 'ms',
        target: 30,
        floor,
      },
    ];
  });
}
