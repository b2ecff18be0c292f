import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { doubling, temporary, write } from '../testing/fixtures.js';
import { suiteNamed } from './index.js';
import type { Task } from '../model.js';

const { folder, remove } = temporary();
afterAll(remove);
const at = (name: string) => join(folder, name);
const jsonl = (...values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const read = (suite: string, path: string) => suiteNamed(suite).read(path);

/** The parts of the judge's program. */
const verification = ({ steps: [step] }: Task) =>
  Object.fromEntries(
    (step?.verifier.files ?? []).map(({ path, bytes }) => [path.slice(8), bytes.toString()]),
  ) as Record<'before.py' | 'reference.py' | 'tests.py', string>;

describe('MBPP', () => {
  const sanitized = {
    source_file: 'a.ipynb',
    task_id: 2,
    prompt: 'Give back twice the number.',
    code: 'def double(n):\n    return 2 * n\n',
    test_imports: ['import math'],
    test_list: ['assert double(4) == 8'],
  };
  const full = {
    text: 'Give back twice the number.',
    code: 'import sys\r\nclass Node:\r\n  pass\r\n',
    task_id: 3,
    test_setup_code: 'import math\r\nroot = Node()',
    test_list: ['assert double(root) == 8', 'assert double(1) == 2'],
    challenge_test_list: ['assert False'],
  };

  it('reads the full set, whose setup uses the solution, and the sanitized one as lines and as a list', () => {
    const lines = write(at('mbpp'), { 'mbpp.jsonl': jsonl(sanitized, full) });
    const [first, second] = read('mbpp', lines);
    const list = write(at('mbpp-list'), {
      'sanitized-mbpp.json': JSON.stringify([sanitized], undefined, 2),
    });
    expect(read('mbpp', list)[0]?.content).toBe(first?.content);
    expect([first?.id, second?.id]).toEqual(['MBPP/2', 'MBPP/3']);
    expect(verification(first!)['before.py']).toBe('import math\n');
    const { 'before.py': before, 'tests.py': tests } = verification(second!);
    expect(before).toBe('import math\n');
    expect(tests).toBe(
      'import math\r\nroot = Node()\nassert double(root) == 8\nassert double(1) == 2\n',
    );
    expect(second?.steps[0]?.instruction).toContain(full.text);
  });

  it('names the task without tests', () => {
    const path = write(at('untested'), { 'mbpp.jsonl': jsonl({ ...full, test_list: [] }) });
    expect(() => read('mbpp', path)).toThrow('MBPP/3 has neither tests nor inputs');
  });
});

describe('EvalPlus', () => {
  const plus = {
    task_id: 'HumanEval/0',
    prompt: doubling.prompt,
    entry_point: 'double',
    canonical_solution: doubling.canonical_solution,
    contract: '',
    base_input: [[1.5]],
    plus_input: [[2]],
    atol: 0,
  };
  const text = JSON.stringify(plus).replace('[[2]]', '[[2.0],[123456789012345678901],[-Infinity]]');

  it('reads HumanEval+ and MBPP+ with inputs, and keeps all their digits', () => {
    const packed = gzipSync(`${text}\n`);
    const path = write(at('humaneval-plus'), { 'HumanEvalPlus-v0.1.10.jsonl.gz': packed });
    const [task] = read('human-eval', path);
    expect(verification(task!)['tests.py']).toContain('[2.0],[123456789012345678901],[-Infinity]');
    const other = write(at('mbpp-plus'), {
      'MbppPlus.jsonl': `${text.replace('HumanEval/0', 'Mbpp/106')}\n`,
    });
    const [mbpp] = read('mbpp', other);
    expect(mbpp).toMatchObject({ id: 'Mbpp/106', steps: [{ limits: { verify: 60 } }] });
    expect(verification(mbpp!)['tests.py']).toContain(String.raw`\"shapes\":[\"=\",\"T\"]`);
  });

  it('compares an answer with the reference solution, as EvalPlus does', () => {
    const line = (more: object) => {
      const value = { ...plus, task_id: 'Mbpp/106', plus_input: {}, ...more };
      const path = write(at(`judged-${Math.random()}`), { 'MbppPlus.jsonl': jsonl(value) });
      return verification(read('mbpp', path)[0]!)['tests.py'];
    };
    const fails = (answer: string, tests: string) => {
      const { status, stderr } = spawnSync('python3', ['-I', '-'], {
        encoding: 'utf8',
        input: `${answer}\n${tests}`,
      });
      if (status !== 0 && !stderr.includes('AssertionError')) throw new Error(stderr);
      return status !== 0;
    };
    const doubled = line({ canonical_solution: 'def double(n):\n    return 2.0 * n\n' });
    expect(fails('def double(n):\n    return n + n', doubled)).toBe(false);
    expect(fails('def double(n):\n    return 2 * n + 1e-9', doubled)).toBe(false);
    expect(fails('def double(n):\n    return 2 * n + 1e-3', doubled)).toBe(true);
    // The recursive calls of a reference do not call the answer.
    const recursive = line({
      base_input: [[3]],
      canonical_solution: 'def double(n):\n    return 2 + double(n - 1) if n else 0\n',
    });
    expect(fails('def double(n):\n    return 7', recursive)).toBe(true);
    // The lists in the JSON were tuples.
    const tuples = line({
      base_input: [[[1], [2]]],
      canonical_solution: 'def double(a, b):\n    return type(a), tuple(b)\n',
    });
    expect(fails('def double(a, b):\n    return list, (2,)', tuples)).toBe(false);
    expect(fails('def double(a, b):\n    return list, type(b)', tuples)).toBe(true);
    const sets = {
      entry_point: 'Diff',
      base_input: [[0]],
      canonical_solution: 'Diff = lambda n: [1, 2]',
    };
    expect(fails('Diff = lambda n: [2, 1]', line(sets))).toBe(false);
    expect(fails('Diff = lambda n: [2]', line(sets))).toBe(true);
  });

  it('runs tests that use numpy in the image that has it', () => {
    const test = 'import numpy as np\ndef check(candidate):\n    assert candidate(4) == 8\n';
    const path = write(at('hub'), {
      'humaneval.jsonl': jsonl({ ...doubling, task_id: 'Own/1', test }, doubling),
    });
    const images = read('human-eval', path).map(({ environment }) => environment.image);
    expect(images).toMatchObject([{ name: 'numpy' }, { name: 'base' }]);
  });
});
