import { start } from '@belay/testkit';
import { percentile } from '../bench-table.mjs';
import { idleScript, sample, withServer } from './setting.mjs';

export const title = 'echo of a keystroke';

export function measure() {
  return withServer({}, async (server) => {
    const session = await start(server, { task: 'Wait', model: idleScript(server) });
    await session.state('waiting');
    const call = (input) => server.client.sessions.call(session.id, 'terminal.run', input);
    await call({ command: 'cat', terminal: 'typing', background: true });
    await server.live.request('terminal.hold', {
      session: session.id,
      terminal: 'typing',
      holder: 'user',
    });
    const echo = () => typed(server, session);
    const quiet = await sample(200, echo, { warm: 10 });
    await call({ command: 'yes', terminal: 'flood', background: true });
    const busy = await sample(200, echo, { warm: 10 });
    session.close();
    return [
      { what: 'echo of a keystroke, p95', value: percentile(quiet, 0.95), unit: 'ms', most: 15 },
      { what: 'the same while yes runs', value: percentile(busy, 0.95), unit: 'ms', most: 30 },
    ];
  });
}

/** Types one character and waits until the terminal shows one more. */
async function typed(server, session) {
  const before = session.terminals.get('typing')?.length ?? 0;
  const begin = performance.now();
  await server.live.request('terminal.keys', {
    session: session.id,
    terminal: 'typing',
    data: 'x',
  });
  await session.until(() => (session.terminals.get('typing')?.length ?? 0) > before, 'the echo');
  return performance.now() - begin;
}
