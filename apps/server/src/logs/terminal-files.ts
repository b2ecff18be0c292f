import { mkdir, open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Config } from '../config.js';
import type { TerminalPiece, TerminalPlace, TerminalStore } from './terminal-store.js';

interface TerminalFile {
  path: string;
  size: number;
  handle: FileHandle | undefined;
  isBusy: boolean;
  /** Whether it is closed after its last write, because it was opened anew. */
  isForgotten: boolean;
  lastUse: number;
}

const maxOpenFiles = 128;
const bytesOfBlock = 512;

/**
 * A file of raw bytes for each terminal, in the data folder, which one server uses at a time. The length of a file is the
 * stored size, so a write truncated by a kill is resumed there. What is not kept is a hole.
 */
export class TerminalFiles implements TerminalStore, OnApplicationShutdown {
  readonly #folder: string;
  readonly #files = new Map<string, Promise<TerminalFile>>();
  readonly #opened = new Set<TerminalFile>();
  /** The bytes of each session. */
  readonly #used = new Map<string, Promise<{ bytes: number }>>();

  constructor({ data }: Pick<Config, 'data'>) {
    this.#folder = join(data, 'terminals');
  }

  async size(place: TerminalPlace): Promise<number> {
    return (await this.#found(place)).size;
  }

  async begin(place: TerminalPlace): Promise<number> {
    return (await this.#file(place)).size;
  }

  async append({ kept, length, ...place }: TerminalPiece): Promise<void> {
    const used = await this.#usedBy(place.session);
    const file = await this.#file(place);
    file.isBusy = true;
    try {
      const handle = (file.handle ??= await this.#open(file));
      file.lastUse = Date.now();
      for (let done = 0; done < kept.byteLength;) {
        const rest = kept.byteLength - done;
        done += (await handle.write(kept, done, rest, file.size + done)).bytesWritten;
      }
      if (kept.byteLength < length) await handle.truncate(file.size + length);
    } catch (error) {
      // A write that was truncated by a full disk is not part of the log.
      await file.handle?.truncate(file.size);
      throw error;
    } finally {
      file.isBusy = false;
      if (file.isForgotten) await this.#close(file);
    }
    file.size += length;
    used.bytes += kept.byteLength;
  }

  async read(place: TerminalPlace, from: number, to: number): Promise<Buffer> {
    const { path, size } = await this.#found(place);
    const length = Math.max(0, Math.min(to, size) - from);
    if (length === 0) return Buffer.alloc(0);
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, from);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  list(session: string): Promise<string[]> {
    return readdir(join(this.#folder, session)).catch(() => []);
  }

  async used(session: string): Promise<number> {
    return (await this.#usedBy(session)).bytes;
  }

  async remove(session: string): Promise<void> {
    await this.forget(session);
    await rm(join(this.#folder, session), { recursive: true, force: true });
  }

  /** Reads the sizes of a session’s files anew from now on: another server may have written them. */
  async forget(session: string): Promise<void> {
    this.#used.delete(session);
    const files = [...this.#files].filter(([key]) => key.startsWith(`${session}/`));
    for (const [key] of files) this.#files.delete(key);
    for (const [, known] of files) {
      const file = await known;
      file.isForgotten = true;
      if (!file.isBusy) await this.#close(file);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    for (const file of this.#opened) await this.#close(file);
  }

  /** The file that this server writes. */
  #file(place: TerminalPlace): Promise<TerminalFile> {
    const found = this.#found(place);
    this.#files.set(keyOf(place), found);
    return found;
  }

  /** The file as it is now: what this server does not write, another one may. */
  #found(place: TerminalPlace): Promise<TerminalFile> {
    const known = this.#files.get(keyOf(place));
    if (known) return known;
    const path = join(this.#folder, place.session, place.terminal);
    const found = stat(path).then(
      ({ size }) => size,
      () => 0,
    );
    return found.then((size) => ({
      path,
      size,
      handle: undefined,
      isBusy: false,
      isForgotten: false,
      lastUse: 0,
    }));
  }

  async #open(file: TerminalFile): Promise<FileHandle> {
    const { path } = file;
    await mkdir(dirname(path), { recursive: true });
    if (this.#opened.size >= maxOpenFiles) {
      const [oldest] = [...this.#opened]
        .filter(({ isBusy }) => !isBusy)
        .toSorted((a, b) => a.lastUse - b.lastUse);
      if (oldest) await this.#close(oldest);
    }
    const exists = await stat(path).then(
      () => true,
      () => false,
    );
    const handle = await open(path, exists ? 'r+' : 'wx+', 0o600);
    this.#opened.add(file);
    return handle;
  }

  async #close(file: TerminalFile): Promise<void> {
    this.#opened.delete(file);
    const { handle } = file;
    file.handle = undefined;
    await handle?.close();
  }

  #usedBy(session: string): Promise<{ bytes: number }> {
    const known = this.#used.get(session);
    if (known) return known;
    const found = bytesOnDisk(join(this.#folder, session)).then((bytes) => ({ bytes }));
    this.#used.set(session, found);
    return found;
  }
}

const keyOf = ({ session, terminal }: TerminalPlace): string => `${session}/${terminal}`;

/** Holes in files use no disk blocks. */
async function bytesOnDisk(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = names.map((name) =>
    stat(join(folder, name)).then(
      ({ size, blocks }) => Math.min(size, blocks * bytesOfBlock),
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
