import { mkdir, open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppError, terminalName } from '@belay/protocol';
import { Mutex } from 'async-mutex';
import { Config } from '../config.js';
import { storageError } from '../storage/database.js';
import { TerminalBudget } from './terminal-budget.js';

export type TerminalListener = (terminal: string, offset: number, bytes: Uint8Array) => void;

interface Terminal {
  session: string;
  path: string;
  /** Offsets below this are stored; output that was not kept is read as zeros. */
  size: number;
  /** The unwritten rest of the notice that output is no longer kept. */
  notice: Buffer | undefined;
  handle: FileHandle | undefined;
  /** The newest output that is shown and not stored; it ends at `size`. */
  shown: Buffer;
  /** Serializes writes to one terminal. */
  mutex: Mutex;
  lastUse: number;
}

const maxOpenFiles = 128;
/** Output that is not stored stays in memory up to this many bytes, which fill a screen many times. */
const maxShown = 256 * 1024;
/** The number of terminals that one session may ever have. */
const maxTerminals = 1_000;

/**
 * Terminal output, one file of raw bytes for each terminal. The length of a file is the stored size, so a write
 * truncated by a kill is resumed there: the agent asks for the size and sends the rest. Beyond a session’s budget the
 * file only grows by a hole: viewers still see the output live, and the program continues.
 */
@Injectable()
export class TerminalLog implements OnApplicationShutdown {
  readonly #folder: string;
  readonly #budget: TerminalBudget;
  readonly #terminals = new Map<string, Promise<Terminal>>();
  readonly #opened = new Set<Terminal>();
  readonly #listeners = new Map<string, Set<TerminalListener>>();

  constructor(config: Config) {
    this.#folder = join(config.data, 'terminals');
    this.#budget = new TerminalBudget(config, this.#folder);
  }

  /** Bytes that are already stored are ignored; a gap is a `conflict`. Resolves when the bytes are stored. */
  async append(
    session: string,
    terminal: string,
    offset: number,
    bytes: Uint8Array,
  ): Promise<void> {
    await this.#append({ session, terminal, isKept: true }, offset, bytes);
  }

  /**
   * Like `append`, for output that is never stored, such as a credential: the file only grows by a hole. Followers get it,
   * late ones its newest `maxShown` bytes while this server runs.
   */
  async show(session: string, terminal: string, offset: number, bytes: Uint8Array): Promise<void> {
    await this.#append({ session, terminal, isKept: false }, offset, bytes);
  }

  async #append(
    { session, terminal, isKept }: { session: string; terminal: string; isKept: boolean },
    offset: number,
    bytes: Uint8Array,
  ): Promise<void> {
    const log = await this.#terminal(session, terminal);
    await log.mutex.runExclusive(async () => {
      if (offset > log.size) {
        throw new AppError('conflict', `The terminal continues at ${log.size}, not at ${offset}.`);
      }
      const fresh = bytes.subarray(log.size - offset);
      if (fresh.byteLength === 0) return;
      const at = log.size;
      await this.#write(log, fresh, { isKept });
      if (!isKept) log.shown = Buffer.concat([log.shown, fresh]).subarray(-maxShown);
      for (const listener of this.#listeners.get(session) ?? []) listener(terminal, at, fresh);
    });
  }

  async size(session: string, terminal: string): Promise<number> {
    return (await this.#terminal(session, terminal)).size;
  }

  /** The bytes from `from` up to, but not including, `to`; fewer if the file is shorter. */
  async read(session: string, terminal: string, from: number, to: number): Promise<Buffer> {
    const { path, size } = await this.#terminal(session, terminal);
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

  /** Like `read`, for followers: with output that is shown and not stored, as far as it is in memory. */
  async readLive(session: string, terminal: string, from: number, to: number): Promise<Buffer> {
    const { shown, size } = await this.#terminal(session, terminal);
    const bytes = await this.read(session, terminal, from, to);
    const start = size - shown.byteLength;
    if (from + bytes.byteLength > start)
      shown.copy(bytes, Math.max(0, start - from), Math.max(0, from - start));
    return bytes;
  }

  async list(session: string): Promise<{ terminal: string; size: number }[]> {
    const files = await readdir(this.#sessionFolder(session)).catch(() => []);
    const names = files.filter((file) => terminalName.safeParse(file).success).toSorted();
    return Promise.all(
      names.map(async (terminal) => ({ terminal, size: await this.size(session, terminal) })),
    );
  }

  /** Called after bytes are stored, in order for each terminal; the bytes are valid only during the call. */
  subscribe(session: string, listener: TerminalListener): () => void {
    const listeners = this.#listeners.get(session) ?? new Set();
    this.#listeners.set(session, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(session) === listeners) {
        this.#listeners.delete(session);
      }
    };
  }

  /** Copies the beginning of another session’s terminal to a new session. */
  async copy(from: string, to: string, terminal: string, bytes: number): Promise<void> {
    const step = 1024 * 1024;
    for (let at = 0; at < bytes; at += step) {
      const piece = await this.read(from, terminal, at, Math.min(at + step, bytes));
      if (piece.length === 0) return;
      await this.append(to, terminal, at, piece);
    }
  }

  async remove(session: string): Promise<void> {
    for (const [key, terminal] of this.#terminals) {
      if (!key.startsWith(`${session}/`)) continue;
      this.#terminals.delete(key);
      const log = await terminal;
      await log.mutex.runExclusive(() => this.#close(log));
    }
    this.#listeners.delete(session);
    this.#budget.forget(session);
    await rm(this.#sessionFolder(session), { recursive: true, force: true });
  }

  async onApplicationShutdown(): Promise<void> {
    for (const log of this.#opened) {
      await log.mutex.runExclusive(() => this.#close(log));
    }
  }

  #terminal(session: string, terminal: string): Promise<Terminal> {
    const key = `${session}/${terminal}`;
    const known = this.#terminals.get(key);
    if (known) return known;
    const path = this.#path(session, terminal);
    this.#requireFew(session);
    const found = stat(path).then(
      ({ size }) => size,
      () => 0,
    );
    const log = found.then((size) => ({
      session,
      notice: undefined,
      path,
      size,
      handle: undefined,
      shown: Buffer.alloc(0),
      mutex: new Mutex(),
      lastUse: 0,
    }));
    this.#terminals.set(key, log);
    return log;
  }

  async #write(log: Terminal, bytes: Uint8Array, { isKept }: { isKept: boolean }): Promise<void> {
    try {
      log.handle ??= await this.#openFile(log);
      log.lastUse = Date.now();
      const kept = isKept ? await this.#budget.keep(log, bytes) : bytes.subarray(0, 0);
      for (let done = 0; done < kept.byteLength;) {
        const rest = kept.byteLength - done;
        done += (await log.handle.write(kept, done, rest, log.size + done)).bytesWritten;
      }
      if (kept.byteLength < bytes.byteLength) {
        await log.handle.truncate(log.size + bytes.byteLength);
      }
      await this.#budget.add(log, kept);
    } catch (error) {
      // A write that was truncated by a full disk is not part of the log.
      await log.handle?.truncate(log.size);
      throw storageError(error);
    }
    log.size += bytes.byteLength;
  }

  #requireFew(session: string): void {
    let known = 0;
    for (const key of this.#terminals.keys()) if (key.startsWith(`${session}/`)) known += 1;
    if (known < maxTerminals) return;
    throw new AppError(
      'limit_reached',
      `A session has at most ${maxTerminals} terminals. Use one that it has.`,
    );
  }

  async #openFile(log: Terminal): Promise<FileHandle> {
    const { path } = log;
    await mkdir(join(path, '..'), { recursive: true });
    if (this.#opened.size >= maxOpenFiles) {
      const [oldest] = [...this.#opened].toSorted((a, b) => a.lastUse - b.lastUse);
      await oldest?.mutex.runExclusive(() => this.#close(oldest));
    }
    const exists = await stat(path).then(
      () => true,
      () => false,
    );
    const handle = await open(path, exists ? 'r+' : 'wx+', 0o600);
    this.#opened.add(log);
    return handle;
  }

  async #close(log: Terminal): Promise<void> {
    this.#opened.delete(log);
    const { handle } = log;
    log.handle = undefined;
    await handle?.close();
  }

  #sessionFolder(session: string): string {
    if (!/^[\w-]+$/.test(session)) throw new AppError('not_found', 'There is no such session.');
    return join(this.#folder, session);
  }

  #path(session: string, terminal: string): string {
    if (!terminalName.safeParse(terminal).success) {
      throw new AppError(
        'invalid_input',
        'The name of the terminal is not valid. Use a few lowercase letters and digits.',
      );
    }
    return join(this.#sessionFolder(session), terminal);
  }
}
