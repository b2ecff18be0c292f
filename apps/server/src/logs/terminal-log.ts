import { mkdir, open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppError, terminalName } from '@belay/protocol';
import { Config } from '../config.js';
import { storageError } from '../storage/database.js';

export type TerminalListener = (terminal: string, offset: number, bytes: Uint8Array) => void;

interface Terminal {
  path: string;
  size: number;
  handle: FileHandle | undefined;
  /** Writes of one terminal follow each other. */
  queue: Promise<unknown>;
  lastUse: number;
}

const maxOpenFiles = 128;

/**
 * What terminals printed, a file of raw bytes each. A file's length is what is stored, so a write that a
 * kill cut short is gone on with where it ends: the agent asks for the size and sends the rest again.
 */
@Injectable()
export class TerminalLog implements OnApplicationShutdown {
  private readonly folder: string;
  private readonly terminals = new Map<string, Promise<Terminal>>();
  private readonly opened = new Set<Terminal>();
  private readonly listeners = new Map<string, Set<TerminalListener>>();

  constructor(config: Config) {
    this.folder = join(config.data, 'terminals');
  }

  /** Bytes that are stored already are ignored; a gap is a `conflict`. Resolves when they are stored. */
  async append(
    session: string,
    terminal: string,
    offset: number,
    bytes: Uint8Array,
  ): Promise<void> {
    const log = await this.terminal(session, terminal);
    const write = log.queue.then(async () => {
      if (offset > log.size) {
        throw new AppError('conflict', `The terminal goes on at ${log.size}, not at ${offset}.`);
      }
      const fresh = bytes.subarray(log.size - offset);
      if (fresh.byteLength === 0) return;
      const at = log.size;
      await this.write(log, fresh);
      for (const listener of this.listeners.get(session) ?? []) listener(terminal, at, fresh);
    });
    log.queue = write.catch(() => undefined);
    await write;
  }

  async size(session: string, terminal: string): Promise<number> {
    return (await this.terminal(session, terminal)).size;
  }

  /** Bytes `from` up to, not including, `to`; less when there is less. */
  async read(session: string, terminal: string, from: number, to: number): Promise<Buffer> {
    const { path, size } = await this.terminal(session, terminal);
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

  async list(session: string): Promise<{ terminal: string; size: number }[]> {
    const files = await readdir(this.sessionFolder(session)).catch(() => []);
    const names = files.filter((file) => terminalName.safeParse(file).success).toSorted();
    return Promise.all(
      names.map(async (terminal) => ({ terminal, size: await this.size(session, terminal) })),
    );
  }

  /** Called after the bytes are stored, in order for each terminal; the bytes are only lent. */
  subscribe(session: string, listener: TerminalListener): () => void {
    const listeners = this.listeners.get(session) ?? new Set();
    this.listeners.set(session, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.listeners.get(session) === listeners) {
        this.listeners.delete(session);
      }
    };
  }

  /** Gives a new session the beginning of another one's terminal. */
  async copy(from: string, to: string, terminal: string, bytes: number): Promise<void> {
    const step = 1024 * 1024;
    for (let at = 0; at < bytes; at += step) {
      const piece = await this.read(from, terminal, at, Math.min(at + step, bytes));
      if (piece.length === 0) return;
      await this.append(to, terminal, at, piece);
    }
  }

  async remove(session: string): Promise<void> {
    for (const [key, terminal] of this.terminals) {
      if (!key.startsWith(`${session}/`)) continue;
      this.terminals.delete(key);
      const log = await terminal;
      await log.queue;
      await this.close(log);
    }
    this.listeners.delete(session);
    await rm(this.sessionFolder(session), { recursive: true, force: true });
  }

  async onApplicationShutdown(): Promise<void> {
    for (const log of this.opened) {
      await log.queue;
      await this.close(log);
    }
  }

  private terminal(session: string, terminal: string): Promise<Terminal> {
    const key = `${session}/${terminal}`;
    const known = this.terminals.get(key);
    if (known) return known;
    const path = this.path(session, terminal);
    const found = stat(path).then(
      ({ size }) => size,
      () => 0,
    );
    const log = found.then((size) => ({
      path,
      size,
      handle: undefined,
      queue: Promise.resolve(),
      lastUse: 0,
    }));
    this.terminals.set(key, log);
    return log;
  }

  private async write(log: Terminal, bytes: Uint8Array): Promise<void> {
    try {
      log.handle ??= await this.openFile(log);
      log.lastUse = Date.now();
      for (let done = 0; done < bytes.byteLength;) {
        const rest = bytes.byteLength - done;
        done += (await log.handle.write(bytes, done, rest, log.size + done)).bytesWritten;
      }
    } catch (error) {
      // What a full disk took of it is no part of the log.
      await log.handle?.truncate(log.size);
      throw storageError(error);
    }
    log.size += bytes.byteLength;
  }

  private async openFile(log: Terminal): Promise<FileHandle> {
    const { path } = log;
    await mkdir(join(path, '..'), { recursive: true });
    if (this.opened.size >= maxOpenFiles) {
      const [oldest] = [...this.opened].toSorted((a, b) => a.lastUse - b.lastUse);
      if (oldest) await (oldest.queue = oldest.queue.then(() => this.close(oldest)));
    }
    const exists = await stat(path).then(
      () => true,
      () => false,
    );
    const handle = await open(path, exists ? 'r+' : 'wx+', 0o600);
    this.opened.add(log);
    return handle;
  }

  private async close(log: Terminal): Promise<void> {
    this.opened.delete(log);
    const { handle } = log;
    log.handle = undefined;
    await handle?.close();
  }

  private sessionFolder(session: string): string {
    if (!/^[\w-]+$/.test(session)) throw new AppError('not_found', 'There is no such session.');
    return join(this.folder, session);
  }

  private path(session: string, terminal: string): string {
    if (!terminalName.safeParse(terminal).success) {
      throw new AppError('invalid_input', 'A terminal has a short name of small letters.');
    }
    return join(this.sessionFolder(session), terminal);
  }
}
