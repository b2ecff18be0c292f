import { longestStallMs, until } from '@belay/testing';
import { TerminalBench } from './terminal-bench.js';

/** Waits for a text after megabytes of these, which are printed as `printf` says. */
export function describeFloods(floods: readonly (readonly [name: string, unit: string])[]): void {
  describe('attacks: waits for a text', () => {
    let bench: TerminalBench;
    beforeEach(async () => void (bench = await TerminalBench.open()));
    afterEach(() => bench.close());

    it.each(floods)('megabytes of %s before it are searched in time', async (_, unit) => {
      const flood = `yes "$(printf '${unit}')" | tr -d '\\n' | head -c 4000000; printf '\\033\\\\\\n'; echo end'ed'; sleep 600`;
      await bench.run(flood, { background: true });
      await until('it is printed', () => bench.screen().includes('ended'));
      const read = (text: string) =>
        bench.call('terminal.read', { from: 0, limit: 100, until: { text }, wait: 0.1 });
      expect(await longestStallMs(() => read('(a+)+$'))).toBeLessThan(2_000);
      expect(await read('ended')).toMatchObject({ happened: 'text' });
    });
  });
}
