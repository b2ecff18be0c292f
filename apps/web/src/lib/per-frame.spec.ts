import { perFrame } from './per-frame';

describe('perFrame', () => {
  let draw: (() => void) | undefined;
  let begun = 0;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['requestAnimationFrame', 'cancelAnimationFrame'] });
    // Each test begins at 0 again: it goes past the pause after what the one before handed on.
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

  it('hands on together, with the next frame, what came since the last', () => {
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

  it('pauses between two, and hands on with the same frame what others gathered', () => {
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

  it('waits for no frame in a page that stopped being drawn meanwhile', () => {
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
