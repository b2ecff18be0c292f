import type { BelayServer, Followed } from '@belay/testkit';

/** Takes input control of a terminal; each call types one letter and waits until the terminal has printed more. */
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

/** From now on the viewer only counts the bytes of one terminal: kept, a flood would slow the measurement itself. */
export function countOnly(session: Followed, name: string): () => number {
  let count = 0;
  session.terminals.set = function set(terminal, bytes) {
    if (terminal !== name) return Map.prototype.set.call(this, terminal, bytes);
    count += bytes.length;
    return this;
  };
  return () => count;
}
