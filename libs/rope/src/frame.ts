import { AppError, type ErrorShape } from '@belay/protocol';
import { z } from 'zod';

/** What one end tells the other; `id` is that of a call or of a stream. */
export type Frame =
  | { kind: 'call'; id: string; name: string; input: unknown }
  | { kind: 'answer'; id: string; output: unknown }
  | { kind: 'fail'; id: string; error: ErrorShape }
  | { kind: 'cancel'; id: string }
  | { kind: 'open'; id: string; name: string; meta: unknown }
  | { kind: 'accepted'; id: string }
  | { kind: 'refused'; id: string; error: ErrorShape }
  | { kind: 'data'; id: string; bytes: Uint8Array }
  | { kind: 'took'; id: string; total: number }
  | { kind: 'end'; id: string }
  | { kind: 'reset'; id: string; error: ErrorShape };

/** A frame ready for the wire: JSON, and its binary values as they are. Encoded once, however often it is sent. */
export interface Encoded {
  head: string | Buffer;
  parts: Uint8Array[];
}

type Path = (string | number)[];

/** Bytes of a frame, at most: below the limit of the receiving socket, so that it is refused here and not there. */
export const frameLimit = 80 * 2 ** 20;
/** Longer heads travel as bytes: socket.io would escape the JSON a second time. */
const longHead = 2 ** 15;

const text = z.string();
const envelope = z.object({
  frame: z.looseObject({ kind: z.string(), id: z.string() }),
  at: z.array(z.array(z.union([z.string(), z.number()]))).optional(),
});

/** Throws `too_large` when the frame is beyond `frameLimit`. */
export function encode(frame: Frame): Encoded {
  const parts: Uint8Array[] = [];
  const at: Path[] = [];
  const plain = lift(frame, [], (bytes, path) => {
    parts.push(bytes);
    at.push(path);
  });
  const json = JSON.stringify(at.length > 0 ? { frame: plain, at } : { frame: plain });
  const head = json.length > longHead ? Buffer.from(json) : json;
  const size = parts.reduce((sum, part) => sum + part.byteLength, head.length);
  if (size > frameLimit) {
    throw new AppError(
      'too_large',
      `A message of ${Math.ceil(size / 2 ** 20)} MiB is more than the ${frameLimit / 2 ** 20} MiB that fit on the rope.`,
    );
  }
  return { head, parts };
}

/** Throws on anything that `encode` does not make. Values are checked later, by the schema of what they are for. */
export function decode(head: unknown, parts: readonly unknown[]): Frame {
  const json = head instanceof Uint8Array ? Buffer.from(head).toString() : text.parse(head);
  const { frame, at = [] } = envelope.parse(JSON.parse(json));
  at.forEach((path, index) => {
    const bytes = parts[index];
    if (!(bytes instanceof Uint8Array)) throw new Error('A binary part is missing.');
    put(frame, path, bytes);
  });
  return frame as unknown as Frame;
}

/** The value without its bytes; copies only what contains some. */
function lift(value: unknown, path: Path, found: (bytes: Uint8Array, path: Path) => void): unknown {
  if (value instanceof Uint8Array) {
    found(value, path);
    return null;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return mapChanged(value, path, found);
  let copy: Record<string, unknown> | undefined;
  for (const [key, inner] of Object.entries(value)) {
    const lifted = lift(inner, [...path, key], found);
    if (lifted !== inner) (copy ??= { ...value })[key] = lifted;
  }
  return copy ?? value;
}

function mapChanged(
  values: readonly unknown[],
  path: Path,
  found: (bytes: Uint8Array, path: Path) => void,
): unknown {
  const lifted = values.map((inner, index) => lift(inner, [...path, index], found));
  return lifted.some((inner, index) => inner !== values[index]) ? lifted : values;
}

function put(root: object, path: Path, bytes: Uint8Array): void {
  let holder: unknown = root;
  path.forEach((key, index) => {
    // Only what JSON made is walked, so that no path reaches a prototype.
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) {
      throw new Error('A binary part has no place.');
    }
    const record = holder as Record<string | number, unknown>;
    if (index === path.length - 1) record[key] = bytes;
    else holder = record[key];
  });
}
