import type { Readable } from 'node:stream';
import type { Container } from 'dockerode';
import { entriesOf, tarOf, type Entry } from '../entries.js';

export interface BoxSpec {
  /** The run that the container belongs to. */
  run: string;
  image: string;
  command: string[];
  user: string | null;
  workdir: string | null;
  env: Record<string, string>;
  cpus: number;
  memoryMb: number;
  network: 'none' | 'bridge';
  files: Entry[];
}

export interface Ended {
  exitCode: number;
  timedOut: boolean;
}

const changeKinds = ['modified', 'added', 'removed'] as const;

/** One container, from its creation to its removal. Whoever creates it removes it. */
export class Box {
  constructor(private readonly container: Container) {}

  /** Puts files in by absolute path, with owners and modes. Works before the start and after the end too. */
  async put(entries: Entry[]): Promise<void> {
    if (entries.length > 0) await this.container.putArchive(await tarOf(entries), { path: '/' });
  }

  /**
   * Starts it and waits for its end. After `seconds`, or when the signal is aborted, the whole container is
   * killed: a process that ignores signals or went to the background dies with it.
   */
  async run(seconds: number, signal: AbortSignal): Promise<Ended> {
    signal.throwIfAborted();
    await this.container.start();
    let timedOut = false;
    const kill = () => void this.container.kill().catch(() => undefined);
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, seconds * 1000);
    signal.addEventListener('abort', kill, { once: true });
    try {
      const { StatusCode } = (await this.container.wait()) as { StatusCode: number };
      signal.throwIfAborted();
      return { exitCode: StatusCode, timedOut };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
    }
  }

  /** What it wrote to standard output and error, in order, the last 4 MB. */
  async output(): Promise<string> {
    const frames = await this.container.logs({ stdout: true, stderr: true });
    const chunks: Buffer[] = [];
    for (let at = 0; at + 8 <= frames.length;) {
      const size = frames.readUInt32BE(at + 4);
      chunks.push(frames.subarray(at + 8, at + 8 + size));
      at += 8 + size;
    }
    return Buffer.concat(chunks).toString();
  }

  /** A file, or a folder with all in it; nothing when there is none. Paths answer absolute. */
  async read(path: string): Promise<Entry[]> {
    try {
      const stream = await this.container.getArchive({ path });
      return await entriesOf(stream as unknown as Readable, parentOf(path));
    } catch (error) {
      if ((error as { statusCode?: number }).statusCode === 404) return [];
      throw error;
    }
  }

  /** What differs from the image. Folders that only hold a change are listed as modified too. */
  async changes(): Promise<{ path: string; kind: (typeof changeKinds)[number] }[]> {
    const changes = (await this.container.changes()) as { Path: string; Kind: number }[] | null;
    return (changes ?? []).map(({ Path, Kind }) => ({
      path: Path,
      kind: changeKinds[Kind] ?? 'modified',
    }));
  }

  /** Its state as an image without a name. */
  async commit(): Promise<string> {
    const { Id } = (await this.container.commit({ pause: false })) as { Id: string };
    return Id;
  }

  async remove(): Promise<void> {
    await this.container
      .remove({ force: true, v: true })
      .catch((error: { statusCode?: number }) => {
        if (error.statusCode !== 404 && error.statusCode !== 409) throw error;
      });
  }
}

const parentOf = (path: string) => path.slice(0, path.lastIndexOf('/')) || '/';
