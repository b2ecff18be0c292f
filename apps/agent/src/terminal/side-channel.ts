import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ignoreError } from '@belay/protocol';
import { errorNumber } from '../files/fault.js';
import { asUser } from '../user-separation.js';
import type { ChannelPaths } from './shell-script.js';

/** What a shell reports about itself. */
export type Report =
  | { kind: 'ready'; nonce: string; status: number; directory: string }
  | { kind: 'begin'; id: string }
  | { kind: 'ended'; id: string; status: number }
  | { kind: 'left'; directory: string }
  | { kind: 'prompt' };

/** Longer reports are invalid; their directory has at most PATH_MAX bytes. */
const maxReportBytes = 16 * 1024;
/** The capacity of a FIFO, unless root has raised the system’s limit. */
const maxPipeBytes = 1024 * 1024;

/**
 * Three FIFOs and a folder of command files in a folder with a secret name, through which agent and shell communicate
 * outside of the terminal. The agent keeps all FIFOs open both ways, so neither end ever reads an end of file.
 */
export class SideChannel {
  readonly paths: ChannelPaths;
  readonly #folder: string;
  readonly #orders: number;
  readonly #releases: number;
  readonly #reports: Socket;
  readonly #reportsFd: number;
  readonly #onReport: (report: Report) => void;
  #rest = Buffer.alloc(0);

  static async open(parent: string, onReport: (report: Report) => void): Promise<SideChannel> {
    const folder = join(parent, randomBytes(12).toString('hex'));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const fifos = ['reports', 'orders', 'releases'].map((name) => join(folder, name));
    try {
      const { file, args } = asUser('mkfifo', ['-m', '600', ...fifos]);
      await promisify(execFile)(file, args);
      return new SideChannel(folder, onReport);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  private constructor(folder: string, onReport: (report: Report) => void) {
    this.#folder = folder;
    this.#onReport = onReport;
    this.paths = {
      reports: join(folder, 'reports'),
      orders: join(folder, 'orders'),
      releases: join(folder, 'releases'),
      commands: folder,
      mark: `\x1b]6973;${randomBytes(12).toString('hex')};`,
    };
    const both = constants.O_RDWR | constants.O_NONBLOCK;
    this.#orders = openSync(this.paths.orders, both);
    this.#releases = openSync(this.paths.releases, both);
    this.#reportsFd = openSync(this.paths.reports, both);
    this.#reports = new Socket({ fd: this.#reportsFd, writable: false });
    this.#reports.on('error', ignoreError('it also ends the shell, whose exit is handled'));
    this.#reports.on('data', (chunk: Buffer) => this.#received(chunk));
  }

  /**
   * Whether a process has the orders as its standard input: only the shell itself does, while it waits for an order.
   */
  isReadBy(pid: number): boolean {
    return isStandardInput(pid, this.#orders);
  }

  /** Whether a process waits to be released: only a background command’s subshell does, after its report. */
  awaitsRelease(pid: number): boolean {
    return isStandardInput(pid, this.#releases);
  }

  /**
   * Lets a background command’s subshell end. Must be repeated until it has ended, because another subshell may read
   * the line.
   */
  release(id: string): void {
    try {
      writeSync(this.#releases, `${id}\n`);
    } catch (error) {
      // The FIFO is full; waiting subshells empty it.
      if (errorNumber(error) !== 'EAGAIN') throw error;
    }
  }

  /** Reads pending reports. */
  drain(): void {
    const buffer = Buffer.allocUnsafe(64 * 1024);
    for (let taken = 0; taken < maxPipeBytes && !this.#reports.destroyed;) {
      const size = this.#readReports(buffer);
      if (size === 0) return;
      taken += size;
      this.#received(Buffer.from(buffer.subarray(0, size)));
    }
  }

  order(line: string): void {
    writeSync(this.#orders, `${line}\n`);
  }

  /** Writes a file for the shell or its command, and returns its path. */
  put(name: string, content: string | Uint8Array): string {
    const path = join(this.#folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  }

  remove(name: string): void {
    try {
      unlinkSync(join(this.#folder, name));
    } catch {
      // Already gone: a command may have emptied the state folder.
    }
  }

  async close(): Promise<void> {
    this.#reports.destroy();
    closeSync(this.#orders);
    closeSync(this.#releases);
    await rm(this.#folder, { recursive: true, force: true });
  }

  #readReports(buffer: Buffer): number {
    try {
      return readSync(this.#reportsFd, buffer);
    } catch (error) {
      if (errorNumber(error) === 'EAGAIN') return 0;
      throw error;
    }
  }

  #received(chunk: Buffer): void {
    let rest = Buffer.concat([this.#rest, chunk]);
    const reports: Report[] = [];
    for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
      const report = parseReport(rest.toString('utf8', 0, end));
      rest = rest.subarray(end + 1);
      if (report) reports.push(report);
    }
    this.#rest = rest.length > maxReportBytes ? Buffer.alloc(0) : rest;
    for (const report of reports) this.#onReport(report);
  }
}

function isStandardInput(pid: number, fd: number): boolean {
  try {
    const [input, fifo] = [statSync(`/proc/${pid}/fd/0`), fstatSync(fd)];
    return input.ino === fifo.ino && input.dev === fifo.dev;
  } catch {
    return false;
  }
}

function parseReport(text: string): Report | undefined {
  const ready = /^ready (\d{1,15}) (\d{1,3}) (.*)$/s.exec(text);
  if (ready) {
    const [, nonce = '', status = '', directory = ''] = ready;
    return { kind: 'ready', nonce, status: Number(status), directory };
  }
  const ended = /^ended (\d{1,20}) (\d{1,3})$/.exec(text);
  if (ended) {
    const [, id = '', status = ''] = ended;
    return { kind: 'ended', id, status: Number(status) };
  }
  if (text.startsWith('left ')) return { kind: 'left', directory: text.slice(5) };
  const begin = /^begin (\d+)$/.exec(text);
  if (begin?.[1] !== undefined) return { kind: 'begin', id: begin[1] };
  return text === 'prompt' ? { kind: 'prompt' } : undefined;
}
