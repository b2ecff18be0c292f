/** @jest-environment ./apps/web/src/testing/browser-environment.cjs */
import { perFrame } from './per-frame';

describe('perFrame', () => {
  let draw: (() => void) | undefined;
  let begun = 0;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['requestAnimationFrame', 'cancelAnimationFrame'] });
    // Fake time restarts at 0 for each test, so it must pass the pause after the previous test’s
    // batch.
    begun += 10_000;
    jest.advanceTimersByTime(begun);
    jest.spyOn(globalThis, 'requestAnimationFrame').mockImplementation((callback) => {
      draw = () => callback(0);
      return 1;
    });
    jest.spyOn(globalThis, 'cancelAnimationFrame').mockImplementation(() => (draw = undefined));
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it('batches items until the next frame', () => {
    const taken: string[][] = [];
    const give = perFrame<string>((items) => void taken.push(items));
    give('a');
    give('b');
    jest.advanceTimersByTime(10);
    expect(taken).toEqual([]);
    draw?.();
    expect(taken).toEqual([['a', 'b']]);
    jest.advanceTimersByTime(1_000);
    expect(taken).toHaveLength(1);
  });

  it('pauses between batches and flushes all callbacks in the same frame', () => {
    const taken: string[] = [];
    const give = perFrame<string>((items) => void taken.push(...items));
    const giveOther = perFrame<string>((items) => void taken.push(...items));
    give('a');
    jest.advanceTimersByTime(1);
    draw?.();
    draw = undefined;
    give('b');
    jest.advanceTimersByTime(50);
    giveOther('c');
    expect(draw).toBeUndefined();
    jest.advanceTimersByTime(50);
    expect(taken).toEqual(['a']);
    (draw as (() => void) | undefined)?.();
    expect(taken).toEqual(['a', 'b', 'c']);
  });

  it('flushes without a frame when the page is no longer rendered', () => {
    const taken: string[][] = [];
    const give = perFrame<string>((items) => void taken.push(items));
    give('a');
    jest.advanceTimersByTime(60);
    give('b');
    jest.advanceTimersByTime(250);
    expect(taken).toEqual([['a', 'b']]);
    give('c');
    jest.advanceTimersByTime(310);
    expect(taken).toEqual([['a', 'b'], ['c']]);
  });
});
