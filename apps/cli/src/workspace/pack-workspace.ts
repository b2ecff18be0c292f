import { closeSync, fstatSync, lstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import { AppError } from '@belay/protocol';
import { tarEnd, tarHeader, tarPadding } from '@belay/client';
import { HeldFolders } from '@belay/host';
import { tooLarge } from './left-out.js';
import { openFlags } from './list-workspace.js';
import type { PlannedEntry, WorkspacePlan } from './plan-workspace.js';

/** The progress of packing; both numbers start at 0. */
export interface Packed {
  files: number;
  bytes: number;
}

/**
 * A plan as a tar stream. Every file is opened again without following links, so a path swapped since the plan is left
 * out; a file that changes while it is read keeps the size in its header.
 */
export function packWorkspace(
  plan: WorkspacePlan,
  report: (packed: Packed) => void = () => undefined,
): ReadableStream<Uint8Array> {
  const archive = new Archive(plan);
  const chunks = archive.chunks();
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const { value, done } = chunks.next();
        report(archive.packed);
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => void chunks.return(undefined),
    },
    { highWaterMark: 1 },
  );
}

/** Larger chunks delay each stage of a transfer. */
const chunkBytes = 1 << 19;

/**
 * Makes system calls synchronously, because for tens of thousands of files, asynchronous waits take longer than the
 * calls.
 */
class Archive {
  readonly packed: Packed = { files: 0, bytes: 0 };
  readonly #plan: WorkspacePlan;
  readonly #folders: HeldFolders;
  #chunk = Buffer.allocUnsafe(chunkBytes);
  #used = 0;
  #spaceLeft: number;

  constructor(plan: WorkspacePlan) {
    this.#plan = plan;
    this.#folders = new HeldFolders(plan.folder);
    this.#spaceLeft = plan.maxBytes;
  }

  *chunks(): Generator<Uint8Array, void> {
    try {
      for (const entry of this.#plan.entries) yield* this.#entry(entry);
      yield* this.#bytes(tarEnd());
      yield this.#chunk.subarray(0, this.#used);
    } finally {
      this.#folders.close();
    }
  }

  *#entry(entry: PlannedEntry): Generator<Uint8Array, void> {
    if (entry.kind === 'text') return yield* this.#text(entry.path, Buffer.from(entry.content));
    let file: number | undefined;
    try {
      const header = headerOf(entry);
      const at = this.#folders.at(entry.path);
      if (entry.kind === 'link') {
        const target = readlinkSync(at, 'buffer').toString();
        return yield* this.#bytes(tarHeader({ ...header, kind: 'link', target }));
      }
      if (entry.kind === 'folder') {
        const found = lstatSync(at, { throwIfNoEntry: false });
        if (found ? !found.isDirectory() : entry.mtime) return;
        return yield* this.#bytes(tarHeader({ ...header, kind: 'folder' }));
      }
      file = openSync(at, openFlags);
    } catch (error) {
      if (!gone(error)) throw error;
      return this.#plan.leftOut.file(entry.path, 'unreadable');
    }
    try {
      yield* this.#file(entry, file);
    } finally {
      closeSync(file);
    }
  }

  *#text(path: string, content: Buffer): Generator<Uint8Array, void> {
    const about = { path, mode: 0o644, modified: Date.now(), size: content.length };
    yield* this.#bytes(tarHeader({ ...about, kind: 'file' }));
    yield* this.#bytes(content);
    yield* this.#zeros(tarPadding(content.length));
  }

  *#file(entry: PlannedEntry & { kind: 'file' | 'folder' | 'link' }, file: number) {
    const stat = fstatSync(file);
    const { leftOut, maxBytes } = this.#plan;
    if (!stat.isFile()) return leftOut.file(entry.path, 'special');
    const { size } = stat;
    this.#spaceLeft -= size;
    if (this.#spaceLeft < 0) throw tooLarge(maxBytes, { path: entry.path, size });
    yield* this.#bytes(tarHeader({ ...headerOf(entry), kind: 'file', size }));
    for (let at = 0; at < size;) {
      if (this.#used === chunkBytes) yield this.#full();
      const wanted = Math.min(chunkBytes - this.#used, size - at);
      const count = readSync(file, this.#chunk, this.#used, wanted, at);
      if (count === 0) {
        // The archive must contain the stated number of bytes: zeros replace missing ones.
        leftOut.file(entry.path, 'changed');
        yield* this.#zeros(size - at);
        break;
      }
      this.#used += count;
      at += count;
    }
    yield* this.#zeros(tarPadding(size));
    this.packed.files++;
    this.packed.bytes += size;
  }

  *#bytes(bytes: Uint8Array): Generator<Uint8Array, void> {
    for (let at = 0; at < bytes.length;) {
      if (this.#used === chunkBytes) yield this.#full();
      const piece = bytes.subarray(at, at + chunkBytes - this.#used);
      this.#chunk.set(piece, this.#used);
      this.#used += piece.length;
      at += piece.length;
    }
  }

  *#zeros(count: number): Generator<Uint8Array, void> {
    for (let left = count; left > 0;) {
      if (this.#used === chunkBytes) yield this.#full();
      const size = Math.min(left, chunkBytes - this.#used);
      this.#chunk.fill(0, this.#used, this.#used + size);
      this.#used += size;
      left -= size;
    }
  }

  #full(): Uint8Array {
    const full = this.#chunk;
    this.#chunk = Buffer.allocUnsafe(chunkBytes);
    this.#used = 0;
    return full;
  }
}

const headerOf = ({ path, mode, mtime }: Exclude<PlannedEntry, { kind: 'text' }>) => ({
  path,
  mode,
  modified: mtime?.getTime() ?? Date.now(),
  size: 0,
});

/** Removed, replaced by a link, or unreadable since the plan. */
const gone = (error: unknown): boolean =>
  (error instanceof AppError && error.code === 'forbidden') ||
  ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO', 'EINVAL'].includes(
    (error as NodeJS.ErrnoException).code ?? '',
  );
