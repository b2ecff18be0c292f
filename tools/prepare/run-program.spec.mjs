import { runProgram } from './run-program.mjs';
import { Instruction } from './steps.mjs';

describe('a command of the preparation', () => {
  it('returns its output', async () => {
    expect(await runProgram('sh', ['-c', 'echo one; echo two >&2'])).toContain('one');
  });

  it('reports a failure with its last lines, without a stack', async () => {
    const failing = runProgram('sh', ['-c', 'seq 100; echo no network >&2; exit 3']);
    await expect(failing).rejects.toThrow(Instruction);
    await expect(failing).rejects.toThrow(
      /failed with exit code 3\. It said:\n[^]*100\nno network$/,
    );
    const long = runProgram('sh', ['-c', 'seq 3; exit 3'], { lines: 2 });
    await expect(long).rejects.toThrow(/It said:\n2\n3$/);
  });

  it('is ended after its time', async () => {
    const endless = runProgram('sleep', ['1000'], { timeout: 1 });
    await expect(endless).rejects.toThrow('sleep 1000 was ended by SIGTERM');
  });
});
