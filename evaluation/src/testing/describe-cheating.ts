import { join } from 'node:path';
import { command, nop, oracle } from '../agents/baselines.js';
import type { CheatedSuite } from './cheats.js';
import type { TrialBench } from './trial-bench.js';

/** The suite judges the reference, nothing, honest agents that leave these things behind, and these cheats rightly. */
export function describeCheating(
  bench: TrialBench,
  { suite, make, honest, cheats }: CheatedSuite,
  leftovers: [name: string, line: string][],
): void {
  describe(`attacks: ${suite}`, () => {
    const data = make(join(bench.folder, suite));

    it('passes the reference solution and not nothing', async () => {
      const reference = await bench.trial(suite, data, oracle);
      expect(reference.verdict).toMatchObject({ outcome: 'pass', reward: 1 });
      const nothing = await bench.trial(suite, data, nop);
      expect(nothing.verdict).toMatchObject({ outcome: 'fail', reward: 0 });
    });

    // Trials wait for their containers, so a few run at once.
    it.concurrent.each(leftovers)(
      'passes an agent that does the work and leaves %s',
      async (_name, more) => {
        const line = more ? `${honest}; ${more}` : honest;
        const { verdict } = await bench.trial(suite, data, command(line));
        expect(verdict).toMatchObject({ outcome: 'pass', reward: 1 });
      },
    );

    it.concurrent.each(Object.entries(cheats))(
      'gives nothing to an agent that %s',
      async (_name, line) => {
        const { verdict } = await bench.trial(suite, data, command(line));
        expect(verdict).toMatchObject({
          outcome: expect.stringMatching(/fail|invalid/),
          reward: 0,
        });
        expect(verdict.cause).not.toMatch(/infrastructure|build_failed/);
      },
    );
  });
}
