import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ChannelPaths } from './shell-script.js';

/** What a shell says about itself. */
export type Report =
  | { kind: 'ready'; nonce: string; status: number; directory: string }
  | { kind: 'begin'; id: string }
  | { kind: 'left'; directory: string }
  | { kind: 'prompt' };

/**
 * Two FIFOs and a folder of command files in a folder with a secret name: how agent and shell talk beside the terminal.
 * The agent holds both FIFOs open both ways, so neither end ever meets an end of file.
 */
export class SideChannel {
  readonly paths: ChannelPaths;
  readonly #orders: number;
  readonly #reports: Socket;

  static async open(parent: string, onReport: (report: Report) => void): Promise<SideChannel> {
    const folder = join(parent, randomBytes(12).toString('hex'));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const fifos = [join(folder, 'reports'), join(folder, 'orders')];
    await promisify(execFile)('mkfifo', ['-m', '600', ...fifos]);
    return new SideChannel(folder, onReport);
  }

  private constructor(
    private readonly folder: string,
    onReport: (report: Report) => void,
  ) {
    this.paths = {
      reports: join(folder, 'reports'),
      orders: join(folder, 'orders'),
      commands: folder,
      mark: `\x1b]6973;${randomBytes(12).toString('hex')};`,
    };
    const both = constants.O_RDWR | constants.O_NONBLOCK;
    this.#orders = openSync(this.paths.orders, both);
    this.#reports = new Socket({ fd: openSync(this.paths.reports, both), writable: false });
    // What breaks the channel also ends the shell, and that is noticed by its exit.
    this.#reports.on('error', () => undefined);
    let rest = Buffer.alloc(0);
    this.#reports.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
        const report = parseReport(rest.toString('utf8', 0, end));
        rest = rest.subarray(end + 1);
        if (report) onReport(report);
      }
    });
  }

  order(line: string): void {
    writeSync(this.#orders, `${line}\n`);
  }

  /** Writes a file that the shell or its command reads, and answers its path. */
  put(name: string, content: string | Uint8Array): string {
    const path = join(this.folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  }

  remove(name: string): void {
    try {
      unlinkSync(join(this.folder, name));
    } catch {
      // Already gone: a command may have emptied the state folder.
    }
  }

  async close(): Promise<void> {
    this.#reports.destroy();
    closeSync(this.#orders);
    await rm(this.folder, { recursive: true, force: true });
  }
}

function parseReport(text: string): Report | undefined {
  const ready = /^ready (\d+) (\d+) (.*)$/s.exec(text);
  if (ready) {
    const [, nonce = '', status = '', directory = ''] = ready;
    return { kind: 'ready', nonce, status: Number(status), directory };
  }
  if (text.startsWith('left ')) return { kind: 'left', directory: text.slice(5) };
  if (text.startsWith('begin ')) return { kind: 'begin', id: text.slice(6) };
  return text === 'prompt' ? { kind: 'prompt' } : undefined;
}
