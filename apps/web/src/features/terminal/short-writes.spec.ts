import { ShortWrites } from './short-writes';

const bytes = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

describe('ShortWrites', () => {
  let drawn: string[] = [];
  let writes: ShortWrites;
  beforeEach(() => {
    jest.useFakeTimers();
    jest.advanceTimersByTime(1_000);
    drawn = [];
    writes = new ShortWrites((piece, done) => {
      drawn.push(String.fromCharCode(...piece));
      done();
    });
  });
  afterEach(() => jest.useRealTimers());

  it('draws the first write after a pause at once, and later ones together in order', async () => {
    await writes.add(bytes('a'));
    expect(drawn).toEqual(['a']);
    const both = Promise.all([writes.add(bytes('b')), writes.add(bytes('c'))]);
    expect(drawn).toEqual(['a']);
    jest.advanceTimersByTime(50);
    await both;
    expect(drawn).toEqual(['a', 'b', 'c']);
  });

  it('does not delay a flood', async () => {
    await writes.add(bytes('a'));
    const short = writes.add(bytes('b'));
    await writes.add(new Uint8Array(20_000));
    await short;
    expect(drawn.map((text) => text.length)).toEqual([1, 1, 20_000]);
  });

  it('resolves pending writes when it is disposed of', async () => {
    await writes.add(bytes('a'));
    const last = writes.add(bytes('b'));
    writes.dispose();
    await last;
    expect(drawn).toEqual(['a']);
  });
});
