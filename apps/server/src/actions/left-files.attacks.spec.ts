import { Readable } from 'node:stream';
import fc from 'fast-check';
import { leftFileLimits, plainName, readLeftFiles } from './left-files.js';

const file = (name: string, content: string | Buffer, bytes = Buffer.byteLength(content)) =>
  Buffer.concat([Buffer.from(`${JSON.stringify({ name, bytes })}\n`), Buffer.from(content)]);
const read = (...parts: Buffer[]) => readLeftFiles(Readable.from(parts));
const named = ({ files }: Awaited<ReturnType<typeof read>>) =>
  files.map(({ name, bytes }) => [name, bytes.toString()]);

it('the control: reads what a program leaves, however it is cut', async () => {
  const whole = Buffer.concat([file('a.txt', 'one\ntwo'), file('empty', ''), file('ü.bin', '\0')]);
  for (const size of [1, 7, 1_000]) {
    const parts = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
      whole.subarray(index * size, (index + 1) * size),
    );
    const left = await read(...parts);
    expect(left.fault).toBeNull();
    expect(named(left)).toEqual([
      ['a.txt', 'one\ntwo'],
      ['empty', ''],
      ['ü.bin', '\0'],
    ]);
  }
});

it.each([
  ['more files than are kept', Array.from({ length: 30 }, () => file('a', 'x')), /20 files/],
  ['a file that is too large', [file('a', '', leftFileLimits.bytes + 1)], /too large/],
  [
    'too much in all',
    Array.from({ length: 4 }, () => file('a', Buffer.alloc(2 ** 24))),
    /too large/,
  ],
  ['a size below nothing', [file('a', '', -1)], /cannot be read/],
  ['a head without an end', [Buffer.alloc(10_000, 'x')], /cannot be read/],
  ['no JSON', [Buffer.from('nonsense\n')], /cannot be read/],
  ['a name that is too long', [file('x'.repeat(300), '')], /cannot be read/],
  ['a file that is cut off', [file('a', 'xy', 10)], /cut off/],
])('%s: takes what came before, and says so', async (_, parts, fault) => {
  const left = await read(file('first', '1'), ...parts);
  expect(left.files[0]?.name).toBe('first');
  expect(left.files.length).toBeLessThanOrEqual(leftFileLimits.files);
  expect(left.fault).toMatch(fault);
});

it('reads any bytes without throwing', async () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(chunks, async (parts) => {
      const left = await read(...parts.map((part) => Buffer.from(part)));
      expect(left.files.length).toBeLessThanOrEqual(leftFileLimits.files);
    }),
    // Fixed, so that a failure is the same everywhere; FUZZ_SEED searches elsewhere.
    { numRuns: 200, seed: Number(process.env['FUZZ_SEED'] ?? 20_261_122) },
  );
});

it.each([
  ['../../etc/passwd', '__.._etc_passwd'],
  ['.ssh', '_ssh'],
  ['photo\u202Egnp.exe', 'photo_gnp.exe'],
  ['a\nb', 'a_b'],
  ['plain.png', 'plain.png'],
])('%j is called %j', (name, plain) => {
  expect(plainName(name)).toBe(plain);
});
