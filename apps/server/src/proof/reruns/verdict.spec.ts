import { processorMs } from '@belay/testing';
import fc from 'fast-check';
import {
  checkVerdict,
  printsReason,
  reproductionVerdict,
  type ReproductionClaim,
  type RerunEnd,
} from './verdict.js';

const claim: ReproductionClaim = {
  command: 'npm test -- test/add.test.js',
  files: ['test/add.test.js'],
  expects: 'TypeError: add is not a function',
  isTest: true,
};
const end = (exitCode: number | null, output = '', problem: string | null = null): RerunEnd => ({
  exitCode,
  output,
  problem,
});
const red = end(1, `not ok 1 - adds\n  ${claim.expects}\n    at test/add.test.js:3\n# tests 1\n`);
const green = end(0, 'ok 1 - adds\n# tests 1\n# pass 1\n');
const judge = (
  before: readonly RerunEnd[],
  after: readonly RerunEnd[],
  { guarded = [], ...more }: Partial<ReproductionClaim> & { guarded?: readonly RerunEnd[] } = {},
) => reproductionVerdict({ ...claim, ...more }, { before, after, guarded });

describe('the verdict on a reproduction', () => {
  it('is confirmed where it fails for its reason each time, and passes with the change', () => {
    expect(judge([red, red], [green, green], { guarded: [green] })).toEqual({
      verdict: 'confirmed',
      why: 'It fails without the change because of “TypeError: add is not a function”, and passes with it.',
    });
    const colored = end(
      1,
      'not ok 1 - adds\n\u001B[31mTypeError:\u001B[0m add is\r\n  not a function\n',
    );
    expect(judge([colored], [green]).verdict).toBe('confirmed');
  });

  it.each([
    ['passes without the change', [green, green], [green, green]],
    ['still fails with the change', [red, red], [red, red]],
    ['still fails with the change', [green], [red]],
  ])('is refuted: it %s', (why, before, after) => {
    expect(judge(before, after)).toEqual({ verdict: 'refuted', why: `It ${why}.` });
    // Whatever was named.
    expect(judge(before, after, { isTest: false, expects: 'error' }).verdict).toBe('refuted');
  });

  it.each([
    ['flaky: without the change it passes in 1 of 2 runs', [red, green], [green, green]],
    ['flaky: with the change it passes in 1 of 2 runs', [red, red], [green, red]],
    ['It was not run', [], [green]],
    ['It was not run', [red], []],
    [
      'It did not run: it took longer than 5 s',
      [end(null, '', 'it took longer than 5 s')],
      [green],
    ],
    ['It did not run: it did not end', [red], [end(null)]],
    ['does not print', [end(1, 'something else')], [green]],
    ['does not print', [red, end(1, '')], [green]],
    ['also where it passes', [red], [end(0, claim.expects)]],
  ])('is inconclusive: %s', (why, before, after) => {
    expect(judge(before, after)).toEqual({
      verdict: 'inconclusive',
      why: expect.stringContaining(why) as string,
    });
  });

  it.each([124, 126, 127, 130, 137, 143])(
    'is inconclusive where the exit code is %i, before or after',
    (code) => {
      const lost = end(code, claim.expects);
      expect(judge([lost], [green])).toMatchObject({ verdict: 'inconclusive' });
      expect(judge([red], [lost])).toMatchObject({ verdict: 'inconclusive' });
      expect(judge([lost], [lost]).why).toContain(`exit code ${code}`);
    },
  );

  it.each([
    "Error: Cannot find module '../src/add.js'",
    'sh: 1: jest: not found',
    'bash: jest: command not found',
    "ModuleNotFoundError: No module named 'numpy'",
    'ImportError: cannot import name x',
    'SyntaxError: Unexpected token',
    'error: could not compile `a`',
    'FAIL example.com/a [build failed]',
    'getaddrinfo EAI_AGAIN registry.example',
    'cat: x: No such file or directory',
  ])('is inconclusive where the test could not run: %s', (sign) => {
    const broken = end(1, `${sign}\n${claim.expects}`);
    expect(judge([broken], [green])).toEqual({
      verdict: 'inconclusive',
      why: expect.stringContaining('could not run') as string,
    });
    expect(judge([broken], [broken]).verdict).toBe('inconclusive');
    expect(judge([red], [broken]).why).toContain('With the change the test could not run');
    // What is printed in any case is not why it fails.
    expect(
      judge([end(1, `${sign}\n${red.output}`)], [end(0, `${sign}\n${green.output}`)]),
    ).toMatchObject({
      verdict: 'confirmed',
    });
  });

  it.each([
    'no tests ran in 0.01s',
    '# tests 0',
    'Ran 0 tests in 0.000s',
    'running 0 tests',
    'No tests found',
  ])('is inconclusive where no test ran: %s', (line) => {
    const empty = end(0, line);
    expect(judge([red], [empty]).why).toContain('ran no test');
    expect(judge([end(5, `${line}\n${claim.expects}`)], [green]).why).toContain('ran no test');
  });

  it.each([
    'AssertionError',
    'Error: failed',
    'Tests failed with exit code 1',
    'FAIL test/add.test.js',
    'test/add.test.js',
    'add.test.js:12',
    'expected true, got false',
    'npm test -- test/add.test.js',
    'Traceback (most recent call last)',
  ])('is inconclusive for a reason that any failure prints: %s', (expects) => {
    expect(judge([end(1, `not ok 1 - adds\n${expects}`)], [green], { expects })).toEqual({
      verdict: 'inconclusive',
      why: expect.stringContaining('any failure') as string,
    });
  });

  it('is inconclusive for a command that is not a test', () => {
    expect(judge([red], [green], { isTest: false })).toEqual({
      verdict: 'inconclusive',
      why: expect.stringContaining('a command, not a test') as string,
    });
  });

  it('is inconclusive where it passes only with other settings of its runner', () => {
    expect(judge([red], [green], { guarded: [red] }).why).toContain('decide how tests run');
  });

  it.each([
    ['TAP', 'not ok 1 - adds # time=2ms', 'ok 1 - adds # time=1ms', 'ok 1 - others'],
    ['node:test', '✖ adds (1.2ms)', '✔ adds (0.8ms)', '✔ others (0.8ms)'],
    ['Jest', '  ✕ adds (3 ms)', '  ✓ adds (2 ms)', '  ✓ others'],
    ['pytest', 'FAILED test_a.py::adds - X', 'test_a.py::adds PASSED', 'test_a.py::others PASSED'],
    [
      'unittest',
      'adds (a.T.adds) ... ERROR',
      'adds (a.T.adds) ... ok',
      'others (a.T.others) ... ok',
    ],
    ['Go', '--- FAIL: Adds (0.00s)', '--- PASS: Adds (0.00s)', '--- PASS: Others (0.00s)'],
    ['Cargo', 'test adds ... FAILED', 'test adds ... ok', 'test others ... ok'],
  ])('needs the test itself to turn green, as %s prints it', (_, failed, passed, other) => {
    const before = [end(1, `${failed}\n${claim.expects}`)];
    expect(judge(before, [end(0, passed)]).verdict).toBe('confirmed');
    expect(judge(before, [end(0, other)])).toMatchObject({
      verdict: 'inconclusive',
      why: 'The test that fails without the change is not one that passes with it.',
    });
    expect(judge(before, [end(0, 'done')]).verdict).toBe('inconclusive');
  });

  it.each([
    '1 passed in 0.02s',
    'ok  \texample.com/a\t0.01s',
    '# pass 1',
    'Ran 1 test in 0.1s\n\nOK',
  ])('takes a count for names that a runner leaves out: %s', (count) => {
    const failed = end(1, `FAILED test_a.py::test_add - ${claim.expects}`);
    expect(judge([failed], [end(0, count)]).verdict).toBe('confirmed');
  });

  it('is total, and confirmed only where each of its conditions holds', () => {
    const ends = fc.record({
      exitCode: fc.oneof(fc.constant(null), fc.constantFrom<number>(0, 0, 1, 1, 2, 127, 137)),
      output: fc.oneof(
        fc.constantFrom('', red.output, green.output, claim.expects, 'no tests ran'),
        fc.string(),
      ),
      problem: fc.oneof(
        { weight: 9, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.string() },
      ),
    });
    const some = fc.array(ends, { maxLength: 3 });
    const claims = fc.record({
      command: fc.constant(claim.command),
      files: fc.constant(claim.files),
      expects: fc.oneof(fc.constant(claim.expects), fc.string()),
      isTest: fc.boolean(),
    });
    const seen = new Set<string>();
    fc.assert(
      fc.property(claims, fc.record({ before: some, after: some, guarded: some }), (one, runs) => {
        const { verdict, why } = reproductionVerdict(one, runs);
        seen.add(verdict);
        expect(['confirmed', 'refuted', 'inconclusive']).toContain(verdict);
        expect(why).toMatch(/^[\s\S]+\.$/);
        if (verdict !== 'confirmed') return;
        const prints = ({ output }: RerunEnd) => printsReason(output, one.expects);
        expect(one.isTest).toBe(true);
        expect(runs.before.length * runs.after.length).toBeGreaterThan(0);
        expect(runs.before.every((run) => run.exitCode !== 0 && prints(run))).toBe(true);
        expect(runs.after.every((run) => run.exitCode === 0 && !prints(run))).toBe(true);
        expect(runs.guarded.every(({ exitCode }) => exitCode === 0)).toBe(true);
      }),
      { numRuns: 2_000, examples: [[claim, { before: [red], after: [green], guarded: [] }]] },
    );
    expect(seen.size).toBe(3);
  });
});

describe('the verdict on a check', () => {
  const check = (before: RerunEnd, after: RerunEnd, guarded: RerunEnd | null = null) =>
    checkVerdict({ before, after, guarded });

  it.each([
    ['confirmed', 'passes before the change and with it', green, green, null],
    ['confirmed', 'fails before the change and passes with it', red, green, green],
    ['refuted', 'passes before the change and fails with it', green, red, null],
    ['inconclusive', 'fails before the change and with it', red, red, null],
    ['inconclusive', 'existing tests', green, green, red],
    ['inconclusive', 'did not run before the change', end(127), green, null],
    ['inconclusive', 'did not run with the change', green, end(127), null],
    ['inconclusive', 'it took too long', green, end(null, '', 'it took too long'), null],
    ['inconclusive', 'ran no test', green, end(0, '# tests 0'), null],
  ] as const)('is %s: it %s', (verdict, why, before, after, guarded) => {
    expect(check(before, after, guarded)).toEqual({
      verdict,
      why: expect.stringContaining(why) as string,
    });
  });

  it('names the tests that fail only with the change', () => {
    const more = end(1, `${red.output}not ok 2 - subtracts\n`);
    expect(check(red, more).why).toContain('1 other test failed: subtracts');
  });
});

it('reads a hostile output in bounded time', () => {
  const outputs = ['a::'.repeat(300_000), '9'.repeat(900_000), '\n✓ a'.repeat(200_000)];
  const tookMs = processorMs(() => {
    for (const output of outputs) judge([end(1, output)], [end(0, output)]);
  });
  expect(tookMs).toBeLessThan(5_000);
});
