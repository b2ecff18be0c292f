import { MalformedMessage } from './message.js';

/** The keys that lead from a value to one inside it. */
export type Path = (string | number)[];

interface Taken {
  /** The value with `null` in place of its binary values. */
  plain: unknown;
  parts: Uint8Array[];
  at: Path[];
}

/** Extracts binary values; copies only objects that contain some. Recursive, so a deeply nested value throws. */
export function binaryPartsOf(value: unknown): Taken {
  const parts: Uint8Array[] = [];
  const at: Path[] = [];
  const plain = lift(value, [], (bytes, path) => {
    parts.push(bytes);
    at.push(path);
  });
  return { plain, parts, at };
}

/** Inserts binary values again, in place where possible; throws when a path does not lead to a `null`. */
export function putParts(
  value: unknown,
  parts: readonly Uint8Array[],
  at: readonly Path[],
): unknown {
  const root = { value };
  at.forEach((path, index) => {
    const bytes = parts[index];
    if (!bytes) throw new MalformedMessage('a binary value is missing');
    put(root, ['value', ...path], bytes);
  });
  return root.value;
}

type Found = (bytes: Uint8Array, path: Path) => void;

/**
 * `path` leads to the value and is a shared array: a prompt has tens of thousands of values, and hardly ever binary
 * ones.
 */
function lift(value: unknown, path: Path, found: Found): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) {
    found(value, [...path]);
    return null;
  }
  if (Array.isArray(value)) return liftItems(value, path, found);
  let copy: Record<string, unknown> | undefined;
  for (const [key, inner] of Object.entries(value)) {
    path.push(key);
    const lifted = lift(inner, path, found);
    path.pop();
    if (lifted !== inner) (copy ??= { ...value })[key] = lifted;
  }
  return copy ?? value;
}

function liftItems(values: readonly unknown[], path: Path, found: Found): readonly unknown[] {
  let copy: unknown[] | undefined;
  values.forEach((inner, index) => {
    path.push(index);
    const lifted = lift(inner, path, found);
    path.pop();
    if (lifted !== inner) (copy ??= [...values])[index] = lifted;
  });
  return copy ?? values;
}

function put(root: object, path: Path, bytes: Uint8Array): void {
  let parent: unknown = root;
  path.forEach((key, index) => {
    // Own properties only, so that no path reaches a prototype.
    if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, key)) {
      throw new MalformedMessage('the path of a binary value does not exist');
    }
    const record = parent as Record<string | number, unknown>;
    if (index < path.length - 1) parent = record[key];
    else if (record[key] === null) record[key] = bytes;
    else throw new MalformedMessage('the path of a binary value is taken');
  });
}
