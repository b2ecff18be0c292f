import { isUtf8 } from 'node:buffer';
import { AppError } from '@belay/protocol';

/**
 * The encoding of a text file: UTF-8, one that the file declares or that its bytes show, or otherwise windows-1252, which
 * has a character for each byte, so that any content survives an edit. No byte of a longer character is a line end.
 */
export type Charset = 'utf8' | 'windows-1252' | 'iso-8859-1' | 'shift_jis';

/** A file that contains UTF-8 sequences is treated as damaged UTF-8; invalid bytes are shown as U+FFFD. */
const sequences = /[\xc3-\xdf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}|[\xf1-\xf4][\x80-\xbf]{3}/;

export function charsetOf(bytes: Uint8Array): Charset {
  if (isUtf8(bytes)) return 'utf8';
  const declared = declaredCharset(bytes);
  if (declared) return declared;
  if (isShiftJis(bytes)) return 'shift_jis';
  return sequences.test(Buffer.from(bytes).toString('latin1')) ? 'utf8' : 'windows-1252';
}

/** Python’s, Ruby’s, Emacs’s and XML’s declaration in the first two lines. */
function declaredCharset(bytes: Uint8Array): Charset | undefined {
  const begin = Buffer.from(bytes.subarray(0, 400)).toString('latin1').split('\n', 2).join('\n');
  const [, name = ''] = /(?:coding[:=]\s*|encoding=["'])([-\w.]+)/.exec(begin) ?? [];
  return declarable.get(name.toLowerCase().replaceAll('_', '-'));
}

const declarable = new Map<string, Charset>([
  ...['latin-1', 'latin1', 'iso-8859-1', 'iso8859-1', 'l1'].map(
    (name) => [name, 'iso-8859-1'] as const,
  ),
  ...['cp1252', 'windows-1252'].map((name) => [name, 'windows-1252'] as const),
  ...['shift-jis', 'sjis', 'cp932'].map((name) => [name, 'shift_jis'] as const),
]);

/** The share of Japanese letters that text in Shift-JIS has, and other text read as such has not. */
const leastKana = 0.2;

function isShiftJis(bytes: Uint8Array): boolean {
  try {
    const text = new TextDecoder('shift_jis', { fatal: true }).decode(bytes);
    const wide = text.match(/[^\0-\x7f]/g)?.length ?? 0;
    // Half-width letters are single bytes, which every other encoding has, too.
    const kana = text.match(/[\u3040-\u30ff]/g)?.length ?? 0;
    return wide > 0 && kana / wide >= leastKana;
  } catch {
    return false;
  }
}

export function decodeText(bytes: Uint8Array, charset: Charset): string {
  if (charset === 'utf8') return Buffer.from(bytes).toString('utf8');
  // By that name, the decoder reads windows-1252.
  if (charset === 'iso-8859-1') return Buffer.from(bytes).toString('latin1');
  return new TextDecoder(charset).decode(bytes);
}

/** Throws `invalid_input` for a character that the file’s encoding does not have. */
export function encodeText(text: string, charset: Charset, given: string): Buffer {
  if (charset === 'utf8') return Buffer.from(text, 'utf8');
  const table = bytesIn(charset);
  const bytes: number[] = [];
  for (const character of text) {
    const found = table.get(character);
    if (found === undefined) {
      throw new AppError(
        'invalid_input',
        `${given} is not UTF-8 but ${charset}, which has no ${JSON.stringify(character)}: leave it out, or convert the file first. Nothing was changed.`,
      );
    }
    bytes.push(...found);
  }
  return Buffer.from(bytes);
}

/**
 * Whether an offset is within a character, although the bytes there may look like other ones: in Shift-JIS, the second
 * byte of a character may be that of an ASCII letter. In the other encodings, no character is found within another.
 * A character begins at `known`, which may be far before.
 */
export function splitsCharacter(
  bytes: string,
  { at, known }: { at: number; known: number },
  charset: Charset,
): boolean {
  if (charset !== 'shift_jis' || !isTrail(bytes.charCodeAt(at))) return false;
  let start = at;
  while (start > known && isLead(bytes.charCodeAt(start - 1))) start--;
  // A character begins there, so that first and second bytes alternate from there on.
  return (at - start) % 2 === 1;
}

const isLead = (byte: number): boolean =>
  (byte >= 0x81 && byte <= 0x9f) || (byte >= 0xe0 && byte <= 0xfc);
const isTrail = (byte: number): boolean => byte >= 0x40 && byte <= 0xfc && byte !== 0x7f;

const tables = new Map<Charset, ReadonlyMap<string, readonly number[]>>();

/** The bytes of each character. */
function bytesIn(charset: Charset): ReadonlyMap<string, readonly number[]> {
  const known = tables.get(charset);
  if (known) return known;
  const table = new Map<string, readonly number[]>();
  const add = (...bytes: number[]) => {
    const character = decodeText(Uint8Array.from(bytes), charset);
    const isOne = character.length === 1 && character !== '\ufffd';
    if (isOne && !table.has(character)) table.set(character, bytes);
  };
  for (let byte = 0; byte < 256; byte++) add(byte);
  if (charset === 'shift_jis')
    for (let lead = 0x81; lead <= 0xfc; lead++)
      for (let trail = 0x40; trail <= 0xfc; trail++) add(lead, trail);
  tables.set(charset, table);
  return table;
}
