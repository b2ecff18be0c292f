/** A tracked path’s kind, from its mode in the index. */
export type TrackedKind = 'file' | 'executable' | 'link' | 'repository';

const kinds: Record<number, TrackedKind> = {
  0o100644: 'file',
  0o100755: 'executable',
  0o120000: 'link',
  0o160000: 'repository',
};

/**
 * The tracked paths in a repository’s index, by git’s documented format in its versions 2 to 4.
 * Undefined if it has another format, or is only a part that refers to a shared index.
 */
export function readGitIndex(
  bytes: Uint8Array,
  idBytes: 20 | 32 = 20,
): Map<string, TrackedKind> | undefined {
  try {
    return read(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), idBytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined; // It ends within an entry.
    throw error;
  }
}

const signature = 0x44495243; // DIRC
const sharedIndex = 0x6c696e6b; // link
/** Times, device, inode, mode, owner and size precede the id; two bytes of flags follow it. */
const [modeAt, idAt] = [24, 40];
const extended = 0x4000;

function read(view: DataView, idBytes: number): Map<string, TrackedKind> | undefined {
  const version = view.getUint32(4);
  if (view.getUint32(0) !== signature || version < 2 || version > 4) return undefined;
  const tracked = new Map<string, TrackedKind>();
  let at = 12;
  let before = new Uint8Array();
  for (let left = view.getUint32(8); left > 0; left -= 1) {
    const flags = view.getUint16(at + idAt + idBytes);
    const mode = view.getUint32(at + modeAt);
    const start = at + idAt + idBytes + (flags & extended ? 4 : 2);
    const name = version === 4 ? shortened(view, start, before) : plain(view, start);
    // Entries of older versions are padded with 1 to 8 zeros to a multiple of 8 bytes.
    at = version === 4 ? name.end : at + Math.ceil((name.end - at) / 8) * 8;
    before = name.bytes;
    tracked.set(decoder.decode(name.bytes), kinds[mode] ?? 'file');
  }
  const extensions = view.byteLength - idBytes;
  if (at + 8 <= extensions && view.getUint32(at) === sharedIndex) return undefined;
  return tracked;
}

interface Name {
  bytes: Uint8Array<ArrayBuffer>;
  /** After the zero that ends it. */
  end: number;
}

function plain(view: DataView, start: number): Name {
  let end = start;
  while (view.getUint8(end) !== 0) end += 1;
  return { bytes: bytesOf(view, start, end), end: end + 1 };
}

/** The number of bytes to remove from the end of the name before, then the text that follows. */
function shortened(view: DataView, start: number, before: Uint8Array): Name {
  let at = start;
  let byte = view.getUint8(at++);
  let removed = byte & 0x7f;
  while (byte & 0x80) {
    byte = view.getUint8(at++);
    removed = ((removed + 1) << 7) | (byte & 0x7f);
  }
  const { bytes: added, end } = plain(view, at);
  const kept = before.subarray(0, Math.max(0, before.length - removed));
  const bytes = new Uint8Array(kept.length + added.length);
  bytes.set(kept);
  bytes.set(added, kept.length);
  return { bytes, end };
}

const bytesOf = (view: DataView, start: number, end: number): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(new Uint8Array(view.buffer, view.byteOffset + start, end - start));

const decoder = new TextDecoder();
