import { idleSession, withServer } from './platform.mjs';
import { percentile, timed } from './statistics.mjs';

export const title = 'keystroke → its echo on the dashboard socket';

/** The floor is one request to the server over the same socket that does nothing. */
export async function measure() {
  return withServer({}, async (server) => {
    const session = await idleSession(server);
    const { live } = server;
    const terminal = { session: session.id, terminal: 'main' };
    await live.request('terminal.hold', { ...terminal, holder: 'user' });
    const echoed = typist(session, (data) => live.request('terminal.keys', { ...terminal, data }));
    await timed(5, echoed);
    const quiet = await timed(60, echoed);
    await live.request('terminal.open', { session: session.id, terminal: 'flood' });
    await live.request('terminal.hold', { session: session.id, terminal: 'flood', holder: 'user' });
    const flood = (data) =>
      live.request('terminal.keys', { session: session.id, terminal: 'flood', data });
    await flood('yes\r');
    await session.until(() => session.terminal('flood').length > 1_000_000, 'the flood');
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

/** Types one letter and waits until the terminal has printed one more of it. */
function typist(session, type) {
  return async () => {
    const before = session.terminal().length;
    const typed = type('x');
    await session.until(() => session.terminal().length > before, 'the echo');
    await typed;
  };
}
