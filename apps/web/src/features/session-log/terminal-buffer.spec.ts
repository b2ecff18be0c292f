import { TerminalBuffer } from './terminal-buffer';

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytes = (value: string): Uint8Array => new TextEncoder().encode(value);

describe('TerminalBuffer', () => {
  it('returns any range by offset', async () => {
    const buffer = new TerminalBuffer();
    await buffer.add(0, bytes('hello '));
    await buffer.add(6, bytes('world'));
    expect(text(buffer.slice(0))).toBe('hello world');
    expect(text(buffer.slice(4, 8))).toBe('o wo');
    expect(text(buffer.slice(11))).toBe('');
  });

  it('starts over after a gap', async () => {
    const buffer = new TerminalBuffer();
    await buffer.add(0, bytes('old'));
    await buffer.add(100, bytes('new'));
    expect([buffer.start, buffer.end]).toEqual([100, 103]);
    expect(text(buffer.slice(0))).toBe('new');
  });

  it('finds where lines begin', async () => {
    const buffer = new TerminalBuffer();
    await buffer.add(10, bytes('one\ntwo\nthree'));
    expect([10, 11, 13, 14, 20].map((offset) => buffer.lineFrom(offset))).toEqual([
      14, 14, 14, 18, 20,
    ]);
    // This buffer starts within a line; a complete one starts with a line.
    expect(buffer.firstLine).toBe(14);
    const whole = new TerminalBuffer();
    await whole.add(0, bytes('one\ntwo'));
    expect([whole.firstLine, whole.lineFrom(0)]).toEqual([0, 0]);
  });

  it('calls its listeners', async () => {
    const buffer = new TerminalBuffer();
    const seen: string[] = [];
    const stop = buffer.listen((piece, offset) => void seen.push(`${offset}:${text(piece)}`));
    await buffer.add(0, bytes('a'));
    stop();
    await buffer.add(1, bytes('b'));
    expect(seen).toEqual(['0:a']);
  });
});
