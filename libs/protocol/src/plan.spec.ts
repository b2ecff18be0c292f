import { processorMs } from '@belay/testing';
import { planProgress, planStep } from './plan.js';

describe('the progress of a plan', () => {
  it.each([
    ['- [ ] one\n- [x] two', 2, 1],
    ['* [X] one\n+ [ ] two', 2, 1],
    ['1. [x] one\n2) [ ] two\n10. [x] ten', 3, 2],
    ['# Plan\n\n- [ ] one\n    - [x] inside\n\t1. [x] deeper', 3, 2],
    ['- [ ] one\r\n- [x] two\r\n', 2, 1],
    ['- [ ]', 1, 0],
    ['-   [x]   wide', 1, 1],
    ['', 0, 0],
    ['- one\n[ ] two\n- [y] three\n-[ ] four\n- [x](https://example.com)', 0, 0],
  ])('counts %j', (markdown, steps, done) => {
    expect(planProgress(markdown)).toEqual({ steps, done });
  });

  it.each([
    ['spaces', ' '.repeat(100_000)],
    ['lines', '\n'.repeat(100_000)],
    ['lines of spaces', ' \n'.repeat(50_000)],
    ['spaces after a bullet', `-${' '.repeat(100_000)}`],
    ['spaces after a box', `- [ ]${' '.repeat(100_000)}x`],
    ['digits', '1'.repeat(100_000)],
  ])('takes no time for 100 kB of %s', (_, hostile) => {
    expect(processorMs(() => planProgress(`${hostile}\n- [x] done`))).toBeLessThan(500);
  });

  it('reads a step’s words', () => {
    expect(planStep('  3. [x] ship it ')).toEqual({ done: true, text: 'ship it' });
    expect(planStep('ship it')).toBeNull();
  });
});
