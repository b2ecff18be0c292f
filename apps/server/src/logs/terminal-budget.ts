import type { Config } from '../config.js';
import { FreeSpace } from '../storage/free-space.js';
import type { TerminalStore } from './terminal-store.js';

/** A terminal whose output is limited by a budget. */
export interface CutTerminal {
  readonly session: string;
  /** The unwritten rest of the notice that output is no longer kept. */
  notice: Buffer | undefined;
}

const leastHole = 512;
const zeros = Buffer.alloc(1024 * 1024);

/** Limits how much terminal output is kept for each session. */
export class TerminalBudget {
  readonly #limit: number;
  readonly #space: FreeSpace;

  constructor(
    config: Pick<Config, 'sessionBytes' | 'keepFreeBytes' | 'data'>,
    private readonly store: Pick<TerminalStore, 'used'>,
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
    const used = await this.store.used(terminal.session);
    if (used + bytes.byteLength <= this.#limit) return bytes;
    terminal.notice ??= noticeOf(this.#limit);
    return terminal.notice.subarray(0, bytes.byteLength);
  }

  /** These bytes, which may be of a notice, were stored. */
  stored(terminal: CutTerminal, bytes: Uint8Array): void {
    terminal.notice &&= terminal.notice.subarray(bytes.byteLength);
  }
}

/** Output that another terminal lost is not stored as zeros in a copy. */
const isHole = (bytes: Uint8Array): boolean =>
  bytes.byteLength > leastHole &&
  bytes.byteLength <= zeros.byteLength &&
  bytes[0] === 0 &&
  zeros.subarray(0, bytes.byteLength).equals(bytes);

const noticeOf = (limit: number): Buffer =>
  Buffer.from(
    `\r\n\u001b[0m[The terminals of this session have reached their limit of ${limit / 2 ** 20} MiB: what follows is shown live and not kept. Raise BELAY_SESSION_MB to keep more.]\r\n`,
  );
