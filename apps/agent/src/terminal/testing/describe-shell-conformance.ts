import { TerminalBench } from './terminal-bench.js';
import type { ConformanceCase } from '../conformance/target.js';

/** Runs conformance cases for commands in this shell. */
export function describeShellConformance(
  shell: 'bash' | 'sh',
  given: readonly ConformanceCase[],
): void {
  describe(`exec conformance with ${shell}`, () => {
    const cases = given.filter(({ needs }) => shell === 'bash' || !needs?.includes('bash'));
    // Many wait for a limit of time to pass, so a few run at once.
    test.concurrent.each(cases)('$name', async ({ run }) => {
      const bench = await TerminalBench.open({ shell });
      try {
        await run(bench.target);
      } finally {
        await bench.close();
      }
    });
  });
}
