import { pageSize, Scrollback } from './scrollback.js';

const numbered = (from: number, length: number) =>
  Buffer.from(Array.from({ length }, (_, index) => (from + index) % 251));

test('gives back any range, across pages and however it was cut when it came', () => {
  const scrollback = new Scrollback(1_000, 10 * pageSize, () => Infinity);
  for (let at = 0; at < 3 * pageSize;) {
    const length = 1 + ((at * 7) % 5_000);
    scrollback.append(numbered(at, length));
    at += length;
  }
  expect(scrollback.start).toBe(1_000);
  for (const [from, to] of [
    [0, 1],
    [pageSize - 1, pageSize + 1],
    [5, 2 * pageSize + 5],
  ] as const) {
    expect(scrollback.slice(1_000 + from, 1_000 + to)).toEqual(numbered(from, to - from));
  }
  const end = scrollback.end - 1_000;
  expect(scrollback.slice(scrollback.end - 3, scrollback.end + 100)).toEqual(numbered(end - 3, 3));
  expect(scrollback.lastByte).toBe((end - 1) % 251);
  expect(scrollback.slice(0, 1_000)).toHaveLength(0);
});

test('a piece ends where its page ends, and stays as it was when more is printed', () => {
  const scrollback = new Scrollback(0, pageSize, () => Infinity);
  expect(scrollback.piece(0)).toHaveLength(0);
  expect(scrollback.lastByte).toBeUndefined();
  scrollback.append(numbered(0, 10));
  const first = scrollback.piece(4);
  expect(first).toEqual(numbered(4, 6));
  scrollback.append(numbered(10, pageSize));
  expect(first).toEqual(numbered(4, 6));
  expect(scrollback.piece(4)).toHaveLength(pageSize - 4);
  expect(scrollback.piece(pageSize)).toEqual(numbered(pageSize, 10));
  expect(scrollback.piece(scrollback.end)).toHaveLength(0);
});

test('forgets what is older than it has to keep, never what is pinned', () => {
  let pinned = 0;
  const scrollback = new Scrollback(0, 2 * pageSize, () => pinned);
  scrollback.append(Buffer.alloc(5 * pageSize));
  expect(scrollback.start).toBe(0);
  pinned = 2 * pageSize + 1;
  scrollback.append(Buffer.alloc(1));
  expect(scrollback.start).toBe(2 * pageSize);
  pinned = Infinity;
  scrollback.append(Buffer.alloc(pageSize));
  expect(scrollback.end - scrollback.start).toBeGreaterThanOrEqual(2 * pageSize);
  expect(scrollback.end - scrollback.start).toBeLessThan(3 * pageSize + 1);
});

test('uses a dropped page again, and none that is pinned', () => {
  let pinned = 0;
  const scrollback = new Scrollback(0, pageSize, () => pinned);
  scrollback.append(numbered(0, 2 * pageSize));
  const [first, second] = [scrollback.piece(0), scrollback.piece(pageSize)];
  pinned = pageSize;
  for (let at = 2 * pageSize; at < 9 * pageSize; at += 1_000)
    scrollback.append(numbered(at, Math.min(1_000, 9 * pageSize - at)));
  expect(scrollback.piece(3 * pageSize).buffer === first.buffer).toBe(true);
  expect(second).toEqual(numbered(pageSize, pageSize));
  expect(scrollback.slice(pageSize, 9 * pageSize)).toEqual(numbered(pageSize, 8 * pageSize));
  pinned = Infinity;
  for (let at = 9 * pageSize; at < 20 * pageSize; at += 1_000)
    scrollback.append(numbered(at, 1_000));
  const { start, end } = scrollback;
  expect(scrollback.slice(start, end)).toEqual(numbered(start, end - start));
});
