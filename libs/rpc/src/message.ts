import { z } from 'zod';
import { limits } from './limits.js';

/** One message of a wire; see `FrameChannel` for the order. */
export type WireMessage =
  | { kind: 'hello'; self: string; peer: string | null; received: number }
  | { kind: 'frame'; seq: number; frame: Buffer }
  | { kind: 'ack'; received: number }
  | { kind: 'bye' };

/**
 * A message begins with a byte for its kind and six for a number. `frame` continues with the bytes of the frame, `hello`
 * with JSON, and the others end there.
 */
export const headerBytes = 7;

const codes = { hello: 1, frame: 2, ack: 3, bye: 4 } as const;
const maxHelloBytes = 1_024;

const id = z.string().min(1).max(limits.nameLength);
const hello = z.object({ self: id, peer: id.nullable() });

export function helloMessage(self: string, peer: string | null, received: number): Buffer {
  const ids = Buffer.from(JSON.stringify({ self, peer }));
  return Buffer.concat([header('hello', received), ids]);
}

/** Turns an encoded frame into a message, in place: `encode` leaves space for the header. */
export function numberFrame(encoded: Buffer, seq: number): Buffer {
  encoded[0] = codes.frame;
  encoded.writeUIntBE(seq, 1, 6);
  return encoded;
}

export const ackMessage = (received: number): Buffer => header('ack', received);
export const byeMessage = (): Buffer => header('bye', 0);

/** The peer sent something that no honest peer sends. The message describes it, as a clause. */
export class MalformedMessage extends Error {}

/** Throws on anything that the functions above cannot have produced. */
export function readMessage(bytes: Buffer): WireMessage {
  if (bytes.length < headerBytes) throw new MalformedMessage('a message is too short');
  const number = bytes.readUIntBE(1, 6);
  const rest = bytes.subarray(headerBytes);
  switch (bytes[0]) {
    case codes.frame:
      return { kind: 'frame', seq: number, frame: rest };
    case codes.ack:
      return { kind: 'ack', received: number };
    case codes.hello:
      if (rest.length > maxHelloBytes) throw new MalformedMessage('a hello is too long');
      return { kind: 'hello', received: number, ...hello.parse(JSON.parse(rest.toString())) };
    case codes.bye:
      return { kind: 'bye' };
    default:
      throw new MalformedMessage('a message is of an unknown kind');
  }
}

function header(kind: keyof typeof codes, number: number): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  bytes[0] = codes[kind];
  bytes.writeUIntBE(number, 1, 6);
  return bytes;
}
