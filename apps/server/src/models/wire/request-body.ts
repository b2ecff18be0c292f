import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { AppError, bytesText, ownValue } from '@belay/protocol';
import { parsed } from './event-frames.js';
import { isObject } from './json-fields.js';

/** The largest body of a request, as it comes and uncompressed. */
const maxBodyBytes = 32 * 2 ** 20;
/** What a picture counts as, in tokens, whatever its size. */
const tokensOfPicture = 1_600;
const bytesOfToken = 4;
const maxDepth = 200;
/** Shorter texts are not looked at as pictures. */
const shortestPicture = 4_096;

/** A request’s body as the provider gets it, with its JSON. */
export interface RequestBody {
  /** Uncompressed. */
  text: string;
  json: Record<string, unknown>;
  /** An estimate. */
  tokens: number;
}

const unpackers: Readonly<Record<string, (bytes: Buffer, options: object) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
};

/** Reads a body to its end. `take` is called with the size of each chunk, and may throw. Throws `too_large`. */
export async function readBytes(stream: Readable, take: (bytes: number) => void): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // The stream stays open for the reply.
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw tooLarge();
    take(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/**
 * Reads a body in the encoding that its header names. Throws `invalid_input` for one that is not a JSON object of UTF-8
 * in which each field has one value: nothing is passed on that the provider could read in another way.
 */
export async function requestBody(bytes: Buffer, encoding = 'identity'): Promise<RequestBody> {
  const text = decoded(await unpacked(bytes, encoding.trim().toLowerCase()));
  const json = text === undefined ? undefined : parsed(text);
  if (text === undefined || !isObject(json))
    throw new AppError('invalid_input', 'The body of the request is not a JSON object.');
  const { pictures, pictureCharacters } = scanned(text);
  const tokens =
    Math.ceil((Buffer.byteLength(text) - pictureCharacters) / bytesOfToken) +
    pictures * tokensOfPicture;
  return { text, json, tokens };
}

const tooLarge = (): AppError =>
  new AppError('too_large', `The request is larger than ${bytesText(maxBodyBytes)}.`);

async function unpacked(bytes: Buffer, encoding: string): Promise<Buffer> {
  if (encoding === 'identity' || encoding === '') return bytes;
  const unpack = ownValue(unpackers, encoding);
  if (!unpack)
    throw new UnreadableEncoding(
      `The encoding ${encoding.slice(0, 50)} of the request cannot be read.`,
    );
  try {
    return await unpack(bytes, { maxOutputLength: maxBodyBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw new UnreadableEncoding(`The body of the request is not ${encoding}.`);
  }
}

/** Answered with 415. */
export class UnreadableEncoding extends AppError {
  constructor(message: string) {
    super('invalid_input', message);
  }
}

/** Undefined for bytes that are not UTF-8. */
function decoded(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** An object in which each field has one value; undefined for any other text. */
export function readObject(text: string): Record<string, unknown> | undefined {
  const json = parsed(text);
  if (!isObject(json)) return undefined;
  try {
    scanned(text);
    return json;
  } catch {
    return undefined;
  }
}

/**
 * Looks through valid JSON once. Throws `invalid_input` for an object with two equal names: parsers differ in which of
 * them counts. Neither may it be nested deeper than readers can follow.
 */
function scanned(text: string): { pictures: number; pictureCharacters: number } {
  const open: (Set<string> | null)[] = [];
  let isName = false;
  let pictures = 0;
  let pictureCharacters = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '{' || sign === '[') open.push(sign === '{' ? new Set() : null);
    else if (sign === '}' || sign === ']') open.pop();
    if (open.length > maxDepth)
      throw new AppError('invalid_input', 'The body of the request is nested too deeply.');
    if (sign === '{' || sign === ',') isName = open.at(-1) instanceof Set;
    if (sign !== '"') continue;
    const end = endOfText(text, at);
    if (isName) addName(open.at(-1), text.slice(at, end));
    else if (end - at > shortestPicture && picture.test(text.slice(at + 1, end - 1))) {
      pictures += 1;
      pictureCharacters += end - at;
    }
    isName = false;
    at = end - 1;
  }
  return { pictures, pictureCharacters };
}

const picture = /^(data:[\w/+.-]+;base64,)?[A-Za-z0-9+/_-]+=*$/;

function addName(names: Set<string> | null | undefined, quoted: string): void {
  const name = JSON.parse(quoted) as string;
  if (names?.has(name))
    throw new AppError('invalid_input', `The request has the field ${name.slice(0, 100)} twice.`);
  names?.add(name);
}

/** The place after the closing quote of the text that begins at `start`. */
export function endOfText(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at);
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
}
