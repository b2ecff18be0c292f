import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, posix } from 'node:path';

/**
 * A ustar archive in chunks, for the engine’s build call. Entries are `{ path, from }` (a file or
 * folder of the host) or `{ path, content }`. Times and owners are omitted, so that equal content
 * gives equal bytes.
 */
export function* tar(entries) {
  for (const entry of entries) {
    if (entry.from === undefined) yield* file(entry.path, Buffer.from(entry.content), 0o644);
    else yield* fromDisk(entry.path, entry.from);
  }
  yield Buffer.alloc(1024);
}

function* fromDisk(path, from) {
  const stat = lstatSync(from);
  if (stat.isDirectory()) {
    yield header(`${path}/`, { mode: 0o755, type: '5' });
    for (const name of readdirSync(from).sort())
      yield* fromDisk(posix.join(path, name), join(from, name));
  } else if (stat.isSymbolicLink()) {
    yield header(path, { mode: 0o777, type: '2', link: readlinkSync(from) });
  } else {
    yield* file(path, readFileSync(from), stat.mode & 0o111 ? 0o755 : 0o644);
  }
}

function* file(path, bytes, mode) {
  yield header(path, { mode, size: bytes.length });
  yield bytes;
  const over = bytes.length % 512;
  if (over) yield Buffer.alloc(512 - over);
}

function header(path, { mode, size = 0, type = '0', link = '' }) {
  const block = Buffer.alloc(512);
  const { name, prefix } = split(path);
  const octal = (value, length) => value.toString(8).padStart(length - 1, '0');
  block.write(name, 0);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  block.write(' '.repeat(8), 148);
  block.write(type, 156);
  block.write(link, 157);
  block.write('ustar\x0000', 257);
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 7)}\0 `, 148);
  return block;
}

/** ustar stores 100 bytes of a name and 155 bytes of the folder before it. */
function split(path) {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: '' };
  const cut = path.indexOf('/', path.length - 101);
  const prefix = path.slice(0, cut);
  if (cut < 1 || prefix.length > 155) throw new Error(`${path} is too long for a tar archive`);
  return { name: path.slice(cut + 1), prefix };
}
