import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.js';
import { FreeSpace } from '../storage/free-space.js';

/** A terminal whose output is limited by a budget. */
export interface CutTerminal {
  readonly session: string;
  notice: Buffer | undefined;
}

const bytesOfBlock = 512;
const zeros = Buffer.alloc(1024 * 1024);

/** Limits how much terminal output is kept for each session. */
export class TerminalBudget {
  readonly #limit: number;
  readonly #space: FreeSpace;
  readonly #used = new Map<string, Promise<{ bytes: number }>>();

  constructor(
    config: Pick<Config, 'sessionBytes' | 'keepFreeBytes' | 'data'>,
    private readonly folder: string,
  ) {
    this.#limit = config.sessionBytes / 2;
    this.#space = new FreeSpace(config);
  }

  /**
   * The bytes to store: all of them, or at the limit a notice in their place. Throws `disk_full` when the disk is
   * full; the program then waits.
   */
  async keep(terminal: CutTerminal, bytes: Uint8Array): Promise<Uint8Array> {
    await this.#space.require();
    if (isHole(bytes)) return bytes.subarray(0, 0);
    const used = await this.#usedBy(terminal.session);
    if (used.bytes + bytes.byteLength <= this.#limit) return bytes;
    terminal.notice ??= noticeOf(this.#limit);
    return terminal.notice.subarray(0, bytes.byteLength);
  }

  /** Adds the size of the bytes that were stored. */
  async add(terminal: CutTerminal, stored: Uint8Array): Promise<void> {
    (await this.#usedBy(terminal.session)).bytes += stored.byteLength;
    terminal.notice &&= terminal.notice.subarray(stored.byteLength);
  }

  forget(session: string): void {
    this.#used.delete(session);
  }

  #usedBy(session: string): Promise<{ bytes: number }> {
    const known = this.#used.get(session);
    if (known) return known;
    const found = bytesOnDisk(join(this.folder, session)).then((bytes) => ({ bytes }));
    this.#used.set(session, found);
    return found;
  }
}

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

/** Output that another terminal lost is not stored as zeros in a copy. */
const isHole = (bytes: Uint8Array): boolean =>
  bytes.byteLength > bytesOfBlock &&
  bytes.byteLength <= zeros.byteLength &&
  bytes[0] === 0 &&
  zeros.subarray(0, bytes.byteLength).equals(bytes);

const noticeOf = (limit: number): Buffer =>
  Buffer.from(
    `\r\n\u001b[0m[The terminals of this session have reached their limit of ${limit / 2 ** 20} MiB: what follows is shown live and not kept. Raise BELAY_SESSION_MB to keep more.]\r\n`,
  );
