import { closeSync, constants, openSync, unlinkSync, writeSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesText } from '@belay/protocol';
import { PlainOutput } from './plain-output.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** A pty gives 4 KiB at a time, and each write has a cost. */
const gatheredBytes = 64 * 1024;
/** How long a program that reads the file during the command may wait for the latest output. */
const gatherDelayMs = 20;
/** The folder may be in memory, which the sandbox’s limit includes. */
const largestBytes = 64_000_000;

/**
 * The output of one command in a file, for a model that gets only its beginning and end: without control sequences, its
 * lines ending in LF. Programs in the sandbox may change or remove it.
 */
export class OutputFile {
  readonly path: string;
  #file: number | null;
  #size = 0;
  #isWhole: boolean;
  #failed = false;
  readonly #output = new PlainOutput();
  /** Output that is not in the file yet. */
  readonly #gathered = Buffer.allocUnsafe(gatheredBytes);
  #length = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Throws if there is no space or the folder is missing. A file is not `whole` if earlier output is lost. */
  constructor(terminal: string, { whole }: { whole: boolean }) {
    this.#isWhole = whole;
    this.path = join(tmpdir(), `output-${terminal}-${randomBytes(4).toString('hex')}.txt`);
    this.#file = openSync(this.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  }

  /** The path, once all output until now is in the file; null if it could not be written. */
  pathToRead(): string | null {
    this.#flush();
    if (this.#failed) return null;
    return this.#isWhole ? this.path : `${this.path} (only ${bytesText(this.#size)} of it)`;
  }

  write(bytes: Buffer): void {
    for (let done = 0; done < bytes.length && this.#file !== null;) {
      const copied = bytes.copy(this.#gathered, this.#length, done);
      this.#length += copied;
      done += copied;
      if (this.#length === gatheredBytes) this.#flush();
      else this.#timer ??= setTimeout(() => this.#flush(), gatherDelayMs);
    }
  }

  remove(): void {
    this.#close();
    try {
      unlinkSync(this.path);
    } catch {
      // A program removed it.
    }
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#file === null) return;
    const plain = this.#output.take(this.#gathered.subarray(0, this.#length));
    this.#length = 0;
    try {
      if (this.#size + plain.length > largestBytes) {
        this.#isWhole = false;
        return this.#close();
      }
      this.#size += plain.length;
      for (let done = 0; done < plain.length;) done += writeSync(this.#file, plain, done);
    } catch {
      this.#failed = true; // A part would look like the whole.
      this.remove();
    }
  }

  #close(): void {
    clearTimeout(this.#timer);
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}
