import { AppError, errorFrom, errorShape } from '@belay/protocol';
import { z } from 'zod';
import { binaryPartsOf, putParts, type Path } from './binary-parts.js';
import { jsonTextFault } from './json-text-fault.js';
import { limits } from './limits.js';
import { headerBytes, MalformedMessage } from './message.js';

/** A message between two endpoints; `id` is the id of a call or of a stream. */
export type Frame =
  | { kind: 'call'; id: string; name: string; input: unknown }
  | { kind: 'result'; id: string; output: unknown }
  | { kind: 'fail'; id: string; error: unknown }
  | { kind: 'cancel'; id: string }
  | { kind: 'open'; id: string; name: string; meta: unknown }
  | { kind: 'accepted'; id: string }
  | { kind: 'refused'; id: string; error: unknown }
  | { kind: 'data'; id: string; bytes: Uint8Array }
  | { kind: 'consumed'; id: string; total: number }
  | { kind: 'end'; id: string }
  | { kind: 'reset'; id: string; error: unknown };

/** A frame from the peer. */
export interface ReceivedFrame {
  frame: Frame;
  /** The approximate memory size of its content. */
  bytes: number;
  /** Why its content was not read; affects only its call or stream. */
  fault?: AppError;
}

const kinds = [
  'call',
  'result',
  'fail',
  'cancel',
  'open',
  'accepted',
  'refused',
  'data',
  'consumed',
  'end',
  'reset',
] as const;
/** The field with a frame’s content; other kinds have none, or bytes. */
const contents: Partial<Record<Frame['kind'], string>> = {
  call: 'input',
  result: 'output',
  fail: 'error',
  open: 'meta',
  refused: 'error',
  reset: 'error',
};

const name = z.string().min(1).max(limits.nameLength);
const size = z.int().nonnegative();
const key = z.union([z.string().max(limits.nameLength), size]);
const headSchema = z.object({
  kind: z.enum(kinds),
  id: name,
  name: name.optional(),
  total: size.optional(),
  /** Sizes of the binary values, which follow the JSON. */
  sizes: z.array(size).max(limits.parts).optional(),
  /** The place of each one in the content. */
  at: z.array(z.array(key).max(limits.pathLength)).max(limits.parts).optional(),
});
type Head = z.output<typeof headSchema>;

/** Two numbers: the lengths of the head and of the JSON. */
const lengthBytes = 8;

/**
 * The bytes of a message with the frame, made once and used for every transmission. Throws `too_large` beyond the
 * limits, and `invalid_input` for a value that is not JSON.
 */
export function encode(frame: Frame): Buffer {
  const { head, content, parts } = takeApart(frame);
  const json = content === undefined ? Buffer.alloc(0) : Buffer.from(textOf(content));
  const headText = Buffer.from(JSON.stringify(head));
  const total = parts.reduce((sum, part) => sum + part.byteLength, headText.length + json.length);
  if (total > limits.frameBytes) throw tooLarge(total, limits.frameBytes);
  if (headText.length > limits.headBytes || parts.length > limits.parts) {
    throw new AppError('too_large', 'A message has too many binary values. Send it in parts.');
  }
  const start = Buffer.alloc(headerBytes + lengthBytes);
  start.writeUInt32BE(headText.length, headerBytes);
  start.writeUInt32BE(json.length, headerBytes + 4);
  return Buffer.concat([start, headText, json, ...parts]);
}

/**
 * A frame that reports a failure if `frame` cannot be sent; throws for a call, and for a frame that opens a stream.
 */
export function encodeOrFail(frame: Frame): Buffer {
  try {
    return encode(frame);
  } catch (thrown) {
    const { code, message } = errorFrom(thrown);
    const { kind, id } = frame;
    if (kind === 'result') return encode({ kind: 'fail', id, error: { code, message } });
    if (kind !== 'fail' && kind !== 'refused' && kind !== 'reset') throw thrown;
    return encode({ kind, id, error: { code: 'internal', message: 'The error is too large.' } });
  }
}

/**
 * Throws on anything that `encode` cannot have produced. Content is checked later, by the schema of its call or
 * stream.
 */
export function decode(bytes: Buffer, maxJsonBytes: number = limits.frameBytes): ReceivedFrame {
  if (bytes.length < lengthBytes) throw new MalformedMessage('a frame is too short');
  const headLength = bytes.readUInt32BE(0);
  const jsonLength = bytes.readUInt32BE(4);
  const jsonStart = lengthBytes + headLength;
  const partsStart = jsonStart + jsonLength;
  if (headLength > limits.headBytes || partsStart > bytes.length) {
    throw new MalformedMessage('a frame has wrong lengths');
  }
  const head = headSchema.parse(JSON.parse(bytes.toString('utf8', lengthBytes, jsonStart)));
  const parts = partsOf(bytes.subarray(partsStart), head.sizes ?? []);
  const json = bytes.subarray(jsonStart, partsStart);
  const fault = faultOfContent(head, json, maxJsonBytes);
  if (fault) return { frame: frameOf(head, undefined, parts), bytes: 0, fault };
  const content: unknown = json.length === 0 ? undefined : JSON.parse(json.toString());
  return {
    frame: frameOf(head, putParts(content, parts, head.at ?? []), parts),
    bytes: bytes.length,
  };
}

function takeApart(frame: Frame): { head: Head; content: unknown; parts: Uint8Array[] } {
  const { kind, id } = frame;
  if (kind === 'data') {
    return {
      head: { kind, id, sizes: [frame.bytes.byteLength] },
      content: undefined,
      parts: [frame.bytes],
    };
  }
  if (kind === 'consumed')
    return { head: { kind, id, total: frame.total }, content: undefined, parts: [] };
  const given = (frame as Record<string, unknown>)[contents[kind] ?? ''];
  const { plain, parts, at } = lifted(given);
  const sizes = parts.map(({ byteLength }) => byteLength);
  const named = 'name' in frame ? { name: frame.name } : {};
  return {
    head: { kind, id, ...named, ...(at.length > 0 && { sizes, at }) },
    content: plain,
    parts,
  };
}

/** Recursive: a value nested too deeply for the stack throws as too large. */
function lifted(value: unknown): { plain: unknown; parts: Uint8Array[]; at: Path[] } {
  try {
    return binaryPartsOf(value);
  } catch (error) {
    throw notJson(error);
  }
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    throw notJson(error);
  }
}

function faultOfContent({ kind }: Head, json: Buffer, maxBytes: number): AppError | undefined {
  const most = contents[kind] === 'error' ? limits.errorBytes : maxBytes;
  if (json.length > most) return tooLarge(json.length, most);
  const fault = jsonTextFault(json);
  return fault ? new AppError('invalid_input', `The content of a message ${fault}.`) : undefined;
}

function frameOf(
  { kind, id, name: called, total }: Head,
  content: unknown,
  parts: Buffer[],
): Frame {
  if (kind === 'data') {
    const [bytes] = parts;
    if (!bytes) throw new MalformedMessage('a frame has no bytes');
    return { kind, id, bytes };
  }
  if (kind === 'consumed') {
    if (total === undefined) throw new MalformedMessage('a frame has no number');
    return { kind, id, total };
  }
  if ((kind === 'call' || kind === 'open') && called === undefined) {
    throw new MalformedMessage('a frame has no name');
  }
  const place = contents[kind];
  return {
    kind,
    id,
    ...(called !== undefined && { name: called }),
    ...(place && { [place]: content }),
  } as Frame;
}

/**
 * Copies parts that are a small share of their message, because keeping a part would otherwise keep the whole message.
 */
function partsOf(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  let at = 0;
  const parts = sizes.map((length) => {
    const part = bytes.subarray(at, at + length);
    at += length;
    return 2 * length < bytes.buffer.byteLength ? Buffer.from(part) : part;
  });
  if (at !== bytes.length) throw new MalformedMessage('a frame has wrong sizes');
  return parts;
}

function tooLarge(bytes: number, most: number): AppError {
  const unit = 2 ** 20;
  return new AppError(
    'too_large',
    `A message of ${Math.ceil(bytes / unit)} MiB exceeds the connection’s limit of ${most / unit} MiB. Send it in smaller parts.`,
  );
}

function notJson(cause: unknown): AppError {
  const reason = cause instanceof RangeError ? 'is nested too deeply' : 'is not JSON';
  return new AppError('invalid_input', `The content of a message ${reason}.`);
}

/** An error from the peer; one in an unknown format becomes `internal`. */
export function remoteError(value: unknown): AppError {
  const shape = errorShape.safeParse(value);
  if (!shape.success) return new AppError('internal', 'The peer reported an unknown error.');
  const { code, message, details } = shape.data;
  return new AppError(code, message, details);
}
