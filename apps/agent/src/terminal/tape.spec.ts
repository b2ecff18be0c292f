import { pageSize, Tape } from './tape.js';

const numbered = (from: number, length: number) =>
  Buffer.from(Array.from({ length }, (_, index) => (from + index) % 251));

test('gives back any range, across pages and however it was cut when it came', () => {
  const tape = new Tape(1_000, 10 * pageSize, () => Infinity);
  for (let at = 0; at < 3 * pageSize;) {
    const length = 1 + ((at * 7) % 5_000);
    tape.append(numbered(at, length));
    at += length;
  }
  expect(tape.start).toBe(1_000);
  for (const [from, to] of [
    [0, 1],
    [pageSize - 1, pageSize + 1],
    [5, 2 * pageSize + 5],
  ] as const) {
    expect(tape.slice(1_000 + from, 1_000 + to)).toEqual(numbered(from, to - from));
  }
  const end = tape.end - 1_000;
  expect(tape.slice(tape.end - 3, tape.end + 100)).toEqual(numbered(end - 3, 3));
  expect(tape.lastByte).toBe((end - 1) % 251);
  expect(tape.slice(0, 1_000)).toHaveLength(0);
});

test('a piece ends where its page ends, and stays as it was when more is printed', () => {
  const tape = new Tape(0, pageSize, () => Infinity);
  expect(tape.piece(0)).toHaveLength(0);
  expect(tape.lastByte).toBeUndefined();
  tape.append(numbered(0, 10));
  const first = tape.piece(4);
  expect(first).toEqual(numbered(4, 6));
  tape.append(numbered(10, pageSize));
  expect(first).toEqual(numbered(4, 6));
  expect(tape.piece(4)).toHaveLength(pageSize - 4);
  expect(tape.piece(pageSize)).toEqual(numbered(pageSize, 10));
  expect(tape.piece(tape.end)).toHaveLength(0);
});

test('forgets what is older than it has to keep, never what is pinned', () => {
  let pinned = 0;
  const tape = new Tape(0, 2 * pageSize, () => pinned);
  tape.append(Buffer.alloc(5 * pageSize));
  expect(tape.start).toBe(0);
  pinned = 2 * pageSize + 1;
  tape.append(Buffer.alloc(1));
  expect(tape.start).toBe(2 * pageSize);
  pinned = Infinity;
  tape.append(Buffer.alloc(pageSize));
  expect(tape.end - tape.start).toBeGreaterThanOrEqual(2 * pageSize);
  expect(tape.end - tape.start).toBeLessThan(3 * pageSize + 1);
});
