import type { BelayServer, Followed } from '@belay/testkit';

/**
 * Takes over a terminal; each call of the result types one letter and waits until the terminal
 * prints more.
 */
export async function typist(server: BelayServer, session: Followed): Promise<() => Promise<void>> {
  const { live } = server;
  const terminal = { session: session.id, terminal: 'main' };
  await live.request('terminal.open', terminal);
  await live.request('terminal.hold', { ...terminal, holder: 'user' });
  return async () => {
    const before = session.terminal().length;
    const typed = live.request('terminal.keys', { ...terminal, data: 'x' });
    await session.until(() => session.terminal().length > before, 'the echo');
    await typed;
  };
}
