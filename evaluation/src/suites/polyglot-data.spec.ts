import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { processorMs } from '@belay/testing';
import { polyglotData, temporary, write } from '../testing/fixtures.js';
import { suiteNamed } from './index.js';
import { goTests, judgePrinted, rustTests } from './printed-tests.js';
import type { VerifierOutput } from '../model.js';

const { folder, remove } = temporary();
afterAll(remove);
const at = (name: string) => join(folder, name);
const read = (path: string, notes: string[] = []) =>
  suiteNamed('polyglot').read(path, (note) => notes.push(note));

describe('polyglot', () => {
  const exercise = (root: string, language: string) => {
    polyglotData(at('one'));
    execFileSync('cp', ['-r', at('one/python'), join(root, language)]);
  };
  const checkout = (name: string, ...languages: string[]) => {
    const root = write(at(name), { 'README.md': 'Exercises.\n' });
    for (const language of languages) {
      write(join(root, language, 'exercises'), { 'README.md': '' });
      exercise(join(root, language, 'exercises'), 'practice');
    }
    return root;
  };

  it('reads a whole checkout, one language and one exercise under the same names', () => {
    const root = checkout('whole', 'python', 'go', 'rust');
    const names = (path: string) => read(path).map(({ id }) => id);
    expect(names(root)).toEqual(['go/twice', 'python/twice', 'rust/twice']);
    expect(names(join(root, 'python'))).toEqual(['python/twice']);
    expect(names(join(root, 'go/exercises/practice'))).toEqual(['go/twice']);
    expect(names(join(root, 'rust/exercises/practice/twice'))).toEqual(['rust/twice']);
    expect(names(polyglotData(at('short')))).toEqual(['python/twice']);
  });

  it('reads one language of packed data, and one exercise', () => {
    const line = (task: string, text: string) =>
      JSON.stringify({ task, files: { '.meta/config.json': text, 'twice.py': '' } });
    const text = JSON.stringify({ files: { solution: ['twice.py'], test: [], example: [] } });
    const packed = write(at('packed'), {
      'tasks.jsonl': `${line('python/twice', text)}\n${line('go/twice', text)}\n`,
    });
    const names = (path: string) => read(path).map(({ id }) => id);
    expect(names(packed)).toEqual(['go/twice', 'python/twice']);
    expect(names(join(packed, 'go'))).toEqual(['go/twice']);
    expect(names(join(packed, 'python/twice'))).toEqual(['python/twice']);
    for (const none of ['java', 'py', '../none'])
      expect(() => read(join(packed, none))).toThrow('does not exist');
  });

  it('gives the reference in Rust the manifest with its own packages', () => {
    const root = checkout('rust-alone', 'rust');
    write(join(root, 'rust/exercises/practice/twice/.meta'), {
      'Cargo-example.toml': '[dependencies]\n',
    });
    const [task] = read(root);
    const oracle = task?.steps[0]?.oracle;
    expect(oracle?.kind === 'files' && oracle.files.map(({ path }) => path)).toEqual([
      'twice.py',
      'Cargo.toml',
    ]);
  });

  it('skips languages without a toolchain with a note, and refuses data without any other', () => {
    const notes: string[] = [];
    const root = checkout('more', 'python', 'ruby', 'zig');
    expect(read(root, notes).map(({ id }) => id)).toEqual(['python/twice']);
    expect(notes).toEqual([
      'Exercises in ruby (1), zig (1) are skipped: there is no toolchain for them.',
    ]);
    expect(() => read(join(root, 'ruby'))).toThrow(/has only exercises in ruby \(1\)/);
  });

  it.each([['\n'], [' '], ['--- '], ['test ']])(
    'attacks: a long output of %j is not slow to read',
    (text) => {
      const output = text.repeat(2 ** 19);
      expect(processorMs(() => [goTests(output), rustTests(output)])).toBeLessThan(10_000);
    },
  );

  it('reads results of Go and Rust from the output, which must agree with the exit code', () => {
    const go =
      '=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- FAIL: TestB/b (0.01s)\n--- SKIP: TestC (0s)\n';
    expect(goTests(go)).toEqual({ TestA: 'PASSED', 'TestB/b': 'FAILED', TestC: 'SKIPPED' });
    const rust =
      'running 4 tests\ntest a ... ok\ntest m::b - should panic ... ok\ntest c ... FAILED\ntest d ... ignored\n';
    expect(rustTests(rust)).toEqual({ a: 'PASSED', 'm::b': 'PASSED', c: 'FAILED', d: 'SKIPPED' });
    const judge = (output: string, exitCode = 0) =>
      judgePrinted(rustTests)({ output, exitCode, files: new Map() } as VerifierOutput);
    expect(judge('test a ... ok\n')).toMatchObject({ outcome: 'pass', tests: { a: 'PASSED' } });
    expect(judge('test a ... ok\n', 101).outcome).toBe('fail');
    expect(judge('test a ... ok\ntest a ... FAILED\n').outcome).toBe('fail');
    expect(judge('running 0 tests\n').outcome).toBe('invalid');
  });
});
