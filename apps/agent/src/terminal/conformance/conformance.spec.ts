import { TerminalBench } from '../testing/terminal-bench.js';
import { conformanceCases } from './cases.js';

describe.each(['bash', 'sh'] as const)('exec conformance with %s', (shell) => {
  const cases = conformanceCases.filter(
    ({ needs }) => shell === 'bash' || !needs?.includes('bash'),
  );
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
