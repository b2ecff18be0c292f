import { constants, inflateRawSync } from 'node:zlib';
import { ownValue } from '@belay/protocol';
import { reversed, rot13 } from './secret-index.js';

/** Shorter text is not worth decoding again. */
const minCoded = 16;
/** The shortest text that is kept of decoded bytes. */
const minText = 8;
const maxInflated = 262_144;

/**
 * All that a text could be a code of, one step back: hex, Base32 and Base64 at all offsets and with other characters in
 * between, compressed bytes in them, escapes of HTML, addresses and strings, and numbers of characters. Also of the text
 * reversed and in rot13.
 */
export function* decodedForms(text: string): Generator<string> {
  yield* changed(text, [normalized, unhidden, joined]);
  const turned = rot13(text);
  for (const form of [text, reversed(text), turned, reversed(turned)]) {
    yield* changed(form, [entities, percents, escapes, numbers]);
    if (text.length >= minCoded) for (const bytes of decodedBytes(form)) yield* textsIn(bytes);
  }
}

type Decoder = (text: string) => string;

function* changed(text: string, decoders: readonly Decoder[]): Generator<string> {
  for (const decode of decoders) {
    const decoded = decode(text);
    if (decoded !== text) yield decoded;
  }
}

function* decodedBytes(text: string): Generator<Buffer> {
  const hex = text.replaceAll(/[^0-9a-f]+/gi, '');
  for (let at = 0; at < 2; at += 1) yield Buffer.from(hex.slice(at, hex.length), 'hex');
  const base32 = text.replaceAll(/[^a-z2-7]+/gi, '').toUpperCase();
  for (let at = 0; at < 8; at += 1) yield fromBase32(base32, at);
  const base64 = text.replaceAll(/[^\w+/-]+/g, '');
  const letters = base64.replaceAll(/[^A-Za-z0-9]+/g, '');
  const whole = [...new Set([base64, letters])];
  // The end of one piece and the beginning of the next stand in one group of four.
  for (const form of whole)
    for (let at = 0; at < 4; at += 1) yield Buffer.from(form.slice(at), 'base64');
  for (const [run] of text.matchAll(/[\w+/-]{24,}={0,2}/g)) yield Buffer.from(run, 'base64');
}

const base32Letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const base32Values = new Uint8Array(128);
for (let n = 0; n < 32; n += 1) base32Values[base32Letters.charCodeAt(n)] = n;

function fromBase32(text: string, from: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, Math.floor(((text.length - from) * 5) / 8)));
  let [value, bits, count] = [0, 0, 0];
  for (let at = from; at < text.length && count < bytes.length; at += 1) {
    value = ((value << 5) | (base32Values[text.charCodeAt(at)] ?? 0)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[count] = (value >> bits) & 0xff;
    count += 1;
  }
  return bytes;
}

/** Runs of readable text; bytes that are decoded at a wrong offset have hardly any. */
function* textsIn(bytes: Buffer): Generator<string> {
  if (bytes.length < minText) return;
  for (const [run] of bytes.toString('utf8').matchAll(readable)) yield run;
  yield* inflated(bytes);
}

const readable = /[\t\n\r\u0020-\u007e\u00a0-\ufffc]{8,}/g;

const starts = [0x1f8b08, 0x7801, 0x785e, 0x789c, 0x78da].map((start) =>
  Buffer.from(start.toString(16), 'hex'),
);
const maxStreams = 256;

/** What is compressed in the bytes, at any offset and whatever follows it. */
function* inflated(bytes: Buffer): Generator<string> {
  for (const start of starts) {
    let at = bytes.indexOf(start);
    for (let n = 0; at >= 0 && n < maxStreams; n += 1) {
      const from = at + (start.length === 2 ? 2 : gzipHeaderLength(bytes.subarray(at)));
      const found = orNothing(() => inflateRawSync(bytes.subarray(from), inflateOptions));
      if (found) yield* textsIn(found);
      at = bytes.indexOf(start, at + 1);
    }
  }
}

/** RFC 1952: ten bytes, and what its flags say. */
function gzipHeaderLength(bytes: Buffer): number {
  const flags = bytes[3] ?? 0;
  let end = 10;
  if (flags & 4) end += 2 + (bytes[end] ?? 0) + (bytes[end + 1] ?? 0) * 256;
  for (const flag of [8, 16]) if (flags & flag) end = bytes.indexOf(0, end) + 1 || bytes.length;
  return flags & 2 ? end + 2 : end;
}

/** A stream whose end is missing still shows what it holds. */
const inflateOptions = {
  maxOutputLength: maxInflated,
  finishFlush: constants.Z_SYNC_FLUSH,
} as const;

/** Most bytes are not compressed ones. */
function orNothing(read: () => Buffer): Buffer | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  lowbar: '_',
  hyphen: '-',
  dash: '-',
  sol: '/',
  plus: '+',
  period: '.',
  colon: ':',
  equals: '=',
  num: '#',
  commat: '@',
};

const fromCode = (code: number, whole: string): string =>
  code <= 0x10ffff ? String.fromCodePoint(code) : whole;

const entities = (text: string): string =>
  text.replaceAll(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,10}));?/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ownValue(named, name.toLowerCase()) ?? whole;
      return fromCode(decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal), whole);
    },
  );

const percents = (text: string): string =>
  text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );

const escapes = (text: string): string =>
  text.replaceAll(
    /\\u\{([0-9a-f]{1,6})\}|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|\\([0-3][0-7]{2})|\b0x([0-9a-f]{2})\b[,;\s]*/gi,
    (whole, ...groups: (string | undefined)[]) => {
      const [braced, four, two, octal, listed] = groups;
      if (octal !== undefined) return fromCode(parseInt(octal, 8), whole);
      return fromCode(parseInt(braced ?? four ?? two ?? listed ?? '', 16), whole);
    },
  );

/** `103, 104, 112`. */
const numbers = (text: string): string =>
  text.replaceAll(/(?:\b\d{2,3}\b[\s,;.|-]{0,3}){8,}/g, (run) =>
    run.replaceAll(/(\d+)\D*/g, (_, code: string) => String.fromCharCode(Number(code))),
  );

const normalized = (text: string): string => text.normalize('NFKC');

const unhidden = (text: string): string =>
  text.replaceAll(/\p{Default_Ignorable_Code_Point}+/gu, '');

/** Escapes may be broken by spaces and line ends; other codes are read without them anyway. */
const joined = (text: string): string => (/[\\%&]/.test(text) ? text.replaceAll(/\s+/g, '') : text);
