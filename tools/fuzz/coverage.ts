import { Session } from 'node:inspector/promises';

/** What of some files has run: V8's own block coverage. */
export class Coverage {
  static async start(files: RegExp): Promise<Coverage> {
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    return new Coverage(session, files);
  }

  readonly #session: Session;
  readonly #files: RegExp;
  readonly #known = new Set<string>();

  private constructor(session: Session, files: RegExp) {
    this.#session = session;
    this.#files = files;
  }

  /** Blocks that have run so far. */
  get blocks(): number {
    return this.#known.size;
  }

  /** Whether a block ran, since the last call, that never had; how often it ran counts roughly, as powers of two. */
  async isNew(): Promise<boolean> {
    const before = this.#known.size;
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    for (const { url, scriptId, functions } of result) {
      if (!this.#files.test(url)) continue;
      for (const { ranges } of functions)
        for (const { startOffset, endOffset, count } of ranges)
          if (count > 0)
            this.#known.add(
              `${scriptId}:${startOffset}:${endOffset}:${Math.floor(Math.log2(count))}`,
            );
    }
    return this.#known.size > before;
  }
}
