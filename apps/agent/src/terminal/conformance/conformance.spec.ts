import { TerminalBench } from '../testing/terminal-bench.js';
import { conformanceCases } from './cases.js';

jest.setTimeout(120_000);

describe.each(['bash', 'sh'] as const)('exec conformance with %s', (shell) => {
  let bench: TerminalBench;
  beforeEach(async () => void (bench = await TerminalBench.open({ shell })));
  afterEach(() => bench.close());

  const cases = conformanceCases.filter(
    ({ needs }) => shell === 'bash' || !needs?.includes('bash'),
  );
  test.each(cases)('$name', ({ run }) => run(bench.target));
});
