import { closeSync, constants, openSync, unlinkSync, writeSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PlainOutput } from './plain-output.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** The folder may be in memory, which the sandbox’s limit includes. */
const largest = { bytes: 64_000_000, text: '64 MB' };

/**
 * The whole output of one command in a file, for a model that gets only its beginning and end: without control
 * sequences, its lines ending in LF. Programs in the sandbox may change or remove it.
 */
export class OutputFile {
  readonly path: string;
  #file: number | null;
  #size = 0;
  #failed = false;
  readonly #output = new PlainOutput();

  /** Throws if there is no space or the folder is missing. */
  constructor(terminal: string, folder = tmpdir()) {
    this.path = join(folder, `output-${terminal}-${randomBytes(4).toString('hex')}.txt`);
    this.#file = openSync(this.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  }

  /** The path for a reader; null if the file could not be written. */
  get name(): string | null {
    if (this.#failed) return null;
    return this.#size > largest.bytes ? `${this.path} (the first ${largest.text})` : this.path;
  }

  write(bytes: Uint8Array): void {
    if (this.#file === null) return;
    const plain = this.#output.take(bytes);
    this.#size += plain.length;
    try {
      if (this.#size > largest.bytes) return this.#close();
      for (let done = 0; done < plain.length;) done += writeSync(this.#file, plain, done);
    } catch {
      this.#failed = true; // A part would look like the whole.
      this.remove();
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

  #close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}
