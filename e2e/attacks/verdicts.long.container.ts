import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { belay, describeSystem, prepared } from '@belay/testkit';

const lines = (values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');

/** Prints everything that looks like a secret, each on a line. */
const printSecrets = `import os, re
def printed(text):
    for found in set(re.findall('[0-9a-f]{24,64}', str(text))):
        os.write(1, ('\\n' + found + '\\n').encode())
`;
const wrong = 'def double(n):\n    return n\n';

/** Programs that do not solve the problem, with the trick that each tries instead. */
const cheats: Record<string, string> = {
  'the proof in a frame': `${printSecrets}import sys
def double(n):
    frame = sys._getframe()
    while frame:
        printed(dict(frame.f_locals)); printed(dict(frame.f_globals))
        frame = frame.f_back
    os._exit(0)
`,
  'the proof in memory': `${printSecrets}import gc
def double(n):
    for each in gc.get_objects():
        try: printed(each)
        except BaseException: pass
    os._exit(0)
`,
  'the proof in any environment': `${printSecrets}import glob
def double(n):
    for path in glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline') + glob.glob('/verify/*'):
        try: printed(open(path, 'rb').read()); open(path.replace('environ', 'mem'), 'rb')
        except OSError: pass
    os._exit(0)
`,
  'an early exit': `${wrong}import os\nos._exit(0)\n`,
  'an exit at the end': `${wrong}import atexit, os\natexit.register(lambda: os._exit(0))\n`,
  'sys.exit while it is loaded': `${wrong}import sys\nsys.exit(0)\n`,
  'the death of its parent': `${wrong}import os
for pid in (os.getppid(), 1):
    for number in (9, 15, 2, 1):
        try: os.kill(pid, number)
        except OSError: pass
`,
  'a value that equals everything': `class Any:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = None
def double(n): return Any()
`,
  'a number that equals everything': `class Any(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
def double(n): return Any(0)
`,
  'an end of the loop': 'def double(n):\n    raise StopIteration\n',
  'the test’s own names': `${wrong}check = lambda candidate: None\nimport builtins\nbuiltins.all = builtins.any = builtins.bool = lambda *a: True\n__builtins__ = {}\n`,
  'forged answers': `import os
def double(n):
    for fd in range(3, 20):
        for line in ('["value", 8]', '["value", true]', '["value", {"named": ["Counter"]}]', '["value", {"handle": 1}]'):
            try: os.write(fd, (line + '\\n').encode() * 50)
            except OSError: pass
    return n
`,
};

const test = `def check(candidate):
    assert candidate(4) == 8
    assert all(map(lambda n: candidate(n) == 2 * n, [1, 2, 3]))
    assert [candidate(n) for n in range(5, 8)] == [10, 12, 14]
`;

describeSystem('attacks: verdicts of a benchmark', (server) => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-verdicts-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const evaluate = async (suite: string, data: string, agent: string): Promise<string[]> => {
    const out = mkdtempSync(join(folder, 'run-'));
    const where = ['--out', join(out, 'run'), '--base-image', prepared('BELAY_TEST_IMAGE')];
    const args = ['eval', 'run', suite, '--data', data, '--agent', agent, ...where];
    expect(await belay(server.data, args)).toMatchObject({ code: 0 });
    return readFileSync(join(out, 'run/results.jsonl'), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { task: string; verdict: { outcome: string } })
      .flatMap(({ task, verdict }) => (verdict.outcome === 'pass' ? [task] : []))
      .toSorted();
  };

  it('HumanEval and MBPP: a program cannot report its own success', async () => {
    const programs = {
      ...cheats,
      honest: 'def double(n):\n    print("a word")\n    return 2 * n\n',
    };
    const data = join(folder, 'problems.jsonl');
    const samples = join(folder, 'samples.jsonl');
    const names = Object.keys(programs);
    const problem = { prompt: '', entry_point: 'double', test };
    const canonical = { canonical_solution: 'def double(n):\n    return 2 * n\n' };
    writeFileSync(data, lines(names.map((id) => ({ task_id: id, ...problem, ...canonical }))));
    writeFileSync(
      samples,
      lines(Object.entries(programs).map(([id, solution]) => ({ task_id: id, solution }))),
    );
    expect(await evaluate('human-eval', data, `predictions:${samples}`)).toEqual(['honest']);

    const mbpp = join(folder, 'mbpp.jsonl');
    const answers = join(folder, 'answers.jsonl');
    const tests = test
      .split('\n')
      .slice(1, -1)
      .map((line) => line.trim().replaceAll('candidate', 'double'));
    writeFileSync(
      mbpp,
      lines(
        names.map((_, task_id) => ({
          task_id,
          prompt: '',
          code: canonical.canonical_solution,
          test_list: tests,
        })),
      ),
    );
    writeFileSync(
      answers,
      lines(Object.values(programs).map((solution, task_id) => ({ task_id, solution }))),
    );
    const honest = `MBPP/${names.indexOf('honest')}`;
    expect(await evaluate('mbpp', mbpp, `predictions:${answers}`)).toEqual([honest]);
  });
});
