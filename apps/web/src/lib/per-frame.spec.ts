import { perFrame } from './per-frame';

describe('perFrame', () => {
  let draw: (() => void) | undefined;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['requestAnimationFrame', 'cancelAnimationFrame'] });
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
    jest.advanceTimersByTime(60);
    expect(taken).toEqual([]);
    draw?.();
    expect(taken).toEqual([['a', 'b']]);
    jest.advanceTimersByTime(1_000);
    expect(taken).toHaveLength(1);
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
