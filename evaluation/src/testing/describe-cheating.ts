import { join } from 'node:path';
import { command } from '../agents/baselines.js';
import type { Trial } from '../model.js';
import type { CheatedSuite } from './cheats.js';
import type { TrialBench } from './trial-bench.js';

/** Checks that a suite correctly judges honest agents with these leftovers, and these cheats. */
export function describeCheating(
  bench: TrialBench,
  { suite, make, honest, cheats }: CheatedSuite,
  leftovers: [name: string, line: string][],
): void {
  describe(`attacks: ${suite}`, () => {
    const data = make(join(bench.folder, suite));
    const lines = new Map(
      leftovers.map(([name, more]) => [`leaves ${name}`, more ? `${honest}; ${more}` : honest]),
    );
    for (const [name, line] of Object.entries(cheats)) lines.set(name, line);
    let trials: Promise<Trial[]>;
    beforeAll(() => {
      trials = bench.trials(suite, data, { agents: [...lines.values()].map(command) });
    });
    const verdictOf = async (name: string) =>
      (await trials)[[...lines.keys()].indexOf(name)]?.verdict;

    it.each(leftovers)('passes an agent that does the work and leaves %s', async (name) => {
      expect(await verdictOf(`leaves ${name}`)).toMatchObject({ outcome: 'pass', reward: 1 });
    });

    it.each(Object.keys(cheats))('gives nothing to an agent that %s', async (name) => {
      const verdict = await verdictOf(name);
      expect(verdict).toMatchObject({
        outcome: expect.stringMatching(/fail|invalid/),
        reward: 0,
      });
      expect(verdict?.cause).not.toMatch(/infrastructure|build_failed/);
    });
  });
}
