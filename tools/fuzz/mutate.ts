import type { Random } from '../faults/random.ts';

/** Bytes with a meaning to parsers of text. */
const telling = [
  '\0',
  '\n',
  '"',
  "'",
  '{',
  '}',
  '[',
  ']',
  '(',
  '*',
  '\\',
  '/',
  '..',
  '%',
  '\u001b[',
  '\u202e',
  '9'.repeat(20),
  '-1',
  'null',
  '__proto__',
];
const longest = 4_096;

/** A copy with a few random changes, similar to libFuzzer; some insert pieces of `other`. */
export function mutate(input: Buffer, other: Buffer, random: Random): Buffer {
  let changed = input;
  const times = 1 + Math.floor(random.next() * 4);
  for (let n = 0; n < times; n++) changed = random.pick(ways)(changed, other, random);
  return changed.subarray(0, longest);
}

type Way = (input: Buffer, other: Buffer, random: Random) => Buffer;

const place = (bytes: Buffer, random: Random) => Math.floor(random.next() * (bytes.length + 1));

function piece(bytes: Buffer, random: Random): Buffer {
  const [one, two] = [place(bytes, random), place(bytes, random)];
  return bytes.subarray(Math.min(one, two), Math.max(one, two));
}

function insert(input: Buffer, what: Buffer, random: Random): Buffer {
  const at = place(input, random);
  return Buffer.concat([input.subarray(0, at), what, input.subarray(at)]);
}

const ways: Way[] = [
  (input, _other, random) => {
    const copy = Buffer.from(input);
    if (copy.length > 0)
      copy[Math.floor(random.next() * copy.length)] = Math.floor(random.next() * 256);
    return copy;
  },
  (input, _other, random) => insert(input, Buffer.from(random.pick(telling)), random),
  (input, other, random) => insert(input, piece(other, random), random),
  (input, _other, random) => {
    const twice = piece(input, random);
    return insert(
      input,
      Buffer.concat(Array.from({ length: 1 + Math.floor(random.next() * 9) }, () => twice)),
      random,
    );
  },
  (input, _other, random) => {
    const [one, two] = [place(input, random), place(input, random)];
    return Buffer.concat([
      input.subarray(0, Math.min(one, two)),
      input.subarray(Math.max(one, two)),
    ]);
  },
];
