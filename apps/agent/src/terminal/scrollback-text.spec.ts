import { completeLength, scrollbackText, screenText } from './scrollback-text.js';
import { Scrollback } from './scrollback.js';
import { describeHostileMegabytes } from './testing/describe-hostile-megabytes.js';

const plain = (text: string, rows = 24) => screenText(Buffer.from(text), rows);

test.each([
  ['blanks in colours', '\x1b[31m-  \x1b[m\r\n\x1b[32m+\x1b[m\x1b[K\r\n', '-  \n+\n'],
  ['colours', '\x1b[1;31mred\x1b[0m plain\r\n', 'red plain\n'],
  ['progress lines', ' 10%\r 20%\r100%\r\ndone\r\n', '100%\ndone\n'],
  ['a shorter line over a longer one', 'downloading\rdone\x1b[K\r\n', 'done\n'],
  ['backspaces', 'abc\b\b\x1b[Kx\r\n', 'ax\n'],
  [
    'lines that are redrawn upwards',
    'a: 1\r\nb: 1\r\n\x1b[2A\x1b[Ka: 2\r\n\x1b[Kb: 2\r\n',
    'a: 2\nb: 2\n',
  ],
  [
    'titles and other strings',
    '\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\r\n',
    'alink\n',
  ],
  [
    'the alternate screen, after it',
    'before\r\n\x1b[?1049h\x1b[Hfull\x1b[?1049lafter',
    'before\nafter',
  ],
  [
    'the alternate screen, in it',
    'x\r\n\x1b[?1049h\x1b[H\x1b[2Jtop\x1b[3;5Hhere',
    'x\n\ntop\n\n    here',
  ],
  [
    'a cleared screen keeps what was before',
    'one\r\n\x1b[H\x1b[2Jtwo\x1b[H\x1b[2Jthree',
    'one\n\nthree',
  ],
  ['tabs in plain text', 'a\tb\r\n', 'a\tb\n'],
  ['bells and NULs', 'a\x07b\0c', 'abc'],
])('works off %s', (_name, input, expected) => {
  expect(plain(input)).toBe(expected);
});

test('a scroll region moves only its own lines', () => {
  const screen = '\x1b[?1049h\x1b[H1\r\n2\r\n3\r\nstatus\x1b[1;3r\x1b[3;1H\n4';
  expect(plain(screen, 4).trimStart()).toBe('2\n3\n4\nstatus');
});

test('never throws and ends, whatever the bytes', () => {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % below;
  const parts = [
    '\x1b[',
    '\x1b]',
    '\x1b',
    ';',
    '9',
    '999999999',
    '?1049',
    '\n',
    '\t',
    'x',
    ...'ABCDGHJKLMPSTXdhlrsu@78'.split(''),
  ];
  for (let round = 0; round < 2_000; round += 1) {
    const text = Array.from({ length: 60 }, () => parts[random(parts.length)] ?? '').join('');
    expect(typeof plain(text, 5)).toBe('string');
  }
});

describeHostileMegabytes(['\x1b[2J', '\x1b[?1049h\n\x1b[?1049l']);

test('a character cut at the end waits for the next reading', () => {
  const scrollback = new Scrollback(0, 1000, () => Infinity);
  scrollback.append(Buffer.from([0x61, 0xf0, 0x9f]));
  const first = scrollbackText(scrollback, { from: 0, to: scrollback.end, limit: 100, rows: 24 });
  expect(first).toEqual({ text: 'a', omittedBytes: 0, from: 0, to: 1 });
  scrollback.append(Buffer.from([0x8e, 0x89]));
  expect(
    scrollbackText(scrollback, { from: first.to, to: scrollback.end, limit: 100, rows: 24 }).text,
  ).toBe('🎉');
});

test('the middle of long text is left out, with its size', () => {
  const scrollback = new Scrollback(0, 10_000, () => Infinity);
  scrollback.append(Buffer.from(`${'é'.repeat(1000)}END`));
  const { text, omittedBytes } = scrollbackText(scrollback, {
    from: 0,
    to: scrollback.end,
    limit: 101,
    rows: 24,
  });
  const kept = text.replace(/\n… \d+ bytes left out …\n/, '');
  expect(omittedBytes).toBe(2003 - Buffer.byteLength(kept));
  expect(kept).toMatch(/^é+END$/);
  expect(text).toContain(`${omittedBytes} bytes left out`);
});

test('what the scrollback no longer has counts as left out', () => {
  const scrollback = new Scrollback(0, 10, () => Infinity);
  for (let index = 0; index < 2000; index += 1) scrollback.append(Buffer.from('0123456789'));
  const { text, omittedBytes, from, to } = scrollbackText(scrollback, {
    from: 0,
    to: scrollback.end,
    limit: 50,
    rows: 24,
  });
  expect(from).toBe(0);
  expect(to).toBe(20_000);
  expect(omittedBytes).toBeGreaterThan(19_000);
  expect(text).toMatch(/0123456789$/);
});

test('what is gone is marked at the beginning, where it is missing', () => {
  const scrollback = new Scrollback(0, 10, () => Infinity);
  for (let index = 0; index < 20_000; index += 1) scrollback.append(Buffer.from('0123456789'));
  const all = { from: 0, to: scrollback.end, limit: 100_000, rows: 24 };
  const { text, omittedBytes } = scrollbackText(scrollback, all);
  expect(omittedBytes).toBe(scrollback.start);
  expect(text.slice(0, 60)).toMatch(/^… \d+ earlier bytes are no longer here …\n\d+$/);
  expect(text).not.toContain('left out');
});

test('gaps are marked where they are, and nowhere else', () => {
  const scrollback = new Scrollback(0, 10_000_000, () => Infinity);
  const red = '\x1b[00;31mAAAA\x1b[0m';
  scrollback.append(Buffer.from(red.repeat(20_000)));
  const middle = scrollback.end;
  scrollback.append(Buffer.from('-'.repeat(400_000)));
  scrollback.append(Buffer.from('B'.repeat(300_000)));
  const all = { from: 0, to: scrollback.end, rows: 24 };
  // Both ends of a long output become text of different lengths: the gap is between them, not in the middle.
  const { text } = scrollbackText(scrollback, { ...all, limit: 400_000 });
  expect(/^A+\n… \d+ bytes left out …\nB+$/.test(text)).toBe(true);
  const short = scrollbackText(scrollback, { ...all, from: middle, to: middle + 10, limit: 10 });
  expect(short).toMatchObject({ text: '-'.repeat(10), omittedBytes: 0 });
  const binary = new Scrollback(0, 10_000, () => Infinity);
  binary.append(Buffer.concat([Buffer.alloc(99, 0xff), Buffer.from('.')]));
  const bytes = scrollbackText(binary, { from: 0, to: 100, limit: 100, rows: 24 });
  expect(bytes).toMatchObject({ text: `${'\ufffd'.repeat(99)}.`, omittedBytes: 0 });
  const wide = new Scrollback(0, 10_000, () => Infinity);
  wide.append(Buffer.from('\x1b[9999Cx\n'.repeat(100)));
  expect(
    scrollbackText(wide, { from: 0, to: 1_000, limit: 1_000, rows: 24 }).text.length,
  ).toBeLessThan(4_000);
});

test('completeLength knows whole characters', () => {
  for (const text of ['a', 'é', '日', '🎉']) {
    const bytes = Buffer.from(`x${text}`);
    expect(completeLength(bytes)).toBe(bytes.length);
    for (let cut = 1; cut < bytes.length - 1; cut += 1) {
      expect(completeLength(bytes.subarray(0, bytes.length - cut))).toBe(1);
    }
  }
});
