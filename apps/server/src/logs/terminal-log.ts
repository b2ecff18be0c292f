import { Injectable } from '@nestjs/common';
import { AppError, terminalName } from '@belay/protocol';
import { Mutex } from 'async-mutex';
import { Config } from '../config.js';
import { storageError } from '../storage/database.js';
import { TerminalBudget } from './terminal-budget.js';
import { TerminalStore, type TerminalPlace } from './terminal-store.js';

export type TerminalListener = (terminal: string, offset: number, bytes: Uint8Array) => void;

interface Terminal extends TerminalPlace {
  /** The unwritten rest of the notice that output is no longer kept. */
  notice: Buffer | undefined;
  /** The newest output that is shown and not stored, and the offset at which it ends. */
  shown: { bytes: Buffer; end: number };
  /** Serializes writes to one terminal. */
  mutex: Mutex;
}

interface Appended {
  offset: number;
  bytes: Uint8Array;
  isKept: boolean;
  /** Whether its session is not created yet. */
  isNew?: boolean;
}

/** Output that is not stored stays in memory up to this many bytes, which fill a screen many times. */
const maxShown = 256 * 1024;
/** The number of terminals that one session may ever have. */
const maxTerminals = 1_000;

/**
 * Terminal output, by session, terminal and offset. What is acknowledged is stored: after a kill or a lost connection the
 * agent asks for the size and sends the rest. Beyond a session’s budget, only the size grows: viewers still see the output
 * live, and the program continues.
 */
@Injectable()
export class TerminalLog {
  readonly #budget: TerminalBudget;
  readonly #terminals = new Map<string, Terminal>();
  readonly #listeners = new Map<string, Set<TerminalListener>>();

  constructor(
    config: Config,
    private readonly store: TerminalStore,
  ) {
    this.#budget = new TerminalBudget(config, store);
  }

  /** Bytes that are already stored are ignored; a gap is a `conflict`. Resolves when the bytes are stored. */
  async append(
    session: string,
    terminal: string,
    offset: number,
    bytes: Uint8Array,
  ): Promise<void> {
    await this.#append(this.#terminal(session, terminal), { offset, bytes, isKept: true });
  }

  /**
   * Like `append`, for output that is never stored, such as a credential: only the size grows. Followers get it, late ones
   * its newest `maxShown` bytes while this server runs.
   */
  async show(session: string, terminal: string, offset: number, bytes: Uint8Array): Promise<void> {
    await this.#append(this.#terminal(session, terminal), { offset, bytes, isKept: false });
  }

  async #append(log: Terminal, { offset, bytes, isKept, isNew }: Appended): Promise<void> {
    await log.mutex.runExclusive(async () => {
      const size = await this.store.begin(log, { ...(isNew && { isNew }) });
      if (offset > size) {
        throw new AppError('conflict', `The terminal continues at ${size}, not at ${offset}.`);
      }
      const fresh = bytes.subarray(size - offset);
      if (fresh.byteLength === 0) return;
      await this.#write(log, { offset: size, bytes: fresh, isKept });
      if (!isKept)
        log.shown = {
          bytes: Buffer.concat([log.shown.bytes, fresh]).subarray(-maxShown),
          end: size + fresh.byteLength,
        };
      const { session, terminal } = log;
      for (const listener of this.#listeners.get(session) ?? []) listener(terminal, size, fresh);
    });
  }

  async size(session: string, terminal: string): Promise<number> {
    return this.store.size(this.#terminal(session, terminal));
  }

  /** The bytes from `from` up to, but not including, `to`; fewer if the terminal is shorter. */
  async read(session: string, terminal: string, from: number, to: number): Promise<Buffer> {
    return this.store.read(this.#terminal(session, terminal), from, to);
  }

  /** Like `read`, for followers: with output that is shown and not stored, as far as it is in memory. */
  async readLive(session: string, terminal: string, from: number, to: number): Promise<Buffer> {
    const log = this.#terminal(session, terminal);
    const bytes = await this.store.read(log, from, to);
    const { shown } = log;
    const start = shown.end - shown.bytes.byteLength;
    if (from < shown.end && from + bytes.byteLength > start)
      shown.bytes.copy(bytes, Math.max(0, start - from), Math.max(0, from - start));
    return bytes;
  }

  async list(session: string): Promise<{ terminal: string; size: number }[]> {
    const found = await this.store.list(sessionName(session));
    const names = found.filter((name) => terminalName.safeParse(name).success).toSorted();
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

  /** Copies the beginning of another session’s terminal to a session that is not created yet. */
  async copy(from: string, to: string, terminal: string, bytes: number): Promise<void> {
    const step = 1024 * 1024;
    const copied = this.#terminal(to, terminal);
    for (let offset = 0; offset < bytes; offset += step) {
      const piece = await this.read(from, terminal, offset, Math.min(offset + step, bytes));
      if (piece.length === 0) return;
      await this.#append(copied, { offset, bytes: piece, isKept: true, isNew: true });
    }
  }

  async remove(session: string): Promise<void> {
    for (const [key, log] of this.#terminals) {
      if (!key.startsWith(`${session}/`)) continue;
      this.#terminals.delete(key);
      await log.mutex.waitForUnlock();
    }
    this.#listeners.delete(session);
    await this.store.remove(sessionName(session));
  }

  #terminal(session: string, terminal: string): Terminal {
    const key = `${sessionName(session)}/${terminal}`;
    const known = this.#terminals.get(key);
    if (known) return known;
    if (!terminalName.safeParse(terminal).success)
      throw new AppError(
        'invalid_input',
        'The name of the terminal is not valid. Use a few lowercase letters and digits.',
      );
    this.#requireFew(session);
    const shown = { bytes: Buffer.alloc(0), end: 0 };
    const log = { session, terminal, notice: undefined, shown, mutex: new Mutex() };
    this.#terminals.set(key, log);
    return log;
  }

  async #write(log: Terminal, { offset, bytes, isKept }: Appended): Promise<void> {
    try {
      const kept = isKept ? await this.#budget.keep(log, bytes) : bytes.subarray(0, 0);
      const { session, terminal } = log;
      await this.store.append({ session, terminal, offset, kept, length: bytes.byteLength });
      this.#budget.stored(log, kept);
    } catch (error) {
      throw storageError(error);
    }
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
}

/** The session itself. Throws `not_found` for a name that leads elsewhere. */
function sessionName(session: string): string {
  if (/^[\w-]+$/.test(session)) return session;
  throw new AppError('not_found', 'There is no such session.');
}
