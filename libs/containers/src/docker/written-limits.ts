import { setTimeout as delay } from 'node:timers/promises';
import { ignoreError } from '@belay/protocol';
import type { DockerClient } from './docker.client.js';

const checkMs = 1_000;

/** Watches the sizes of containers’ writable layers, which the engine does not limit. */
export class WrittenLimits {
  readonly #watched = new Map<string, { ended: AbortController; exceededMb: number | null }>();

  constructor(private readonly docker: DockerClient) {}

  /** Calls `exceeded` once, when one of the engine’s containers has written more. */
  watch(
    id: string,
    { containers, mb, exceeded }: { containers: readonly string[]; mb: number; exceeded(): void },
  ): void {
    this.end(id);
    const ended = new AbortController();
    const watched = { ended, exceededMb: null as number | null };
    this.#watched.set(id, watched);
    const full = (): void => {
      watched.exceededMb = mb;
      ended.abort();
      exceeded();
    };
    for (const container of containers)
      void this.#follow(container, mb, ended.signal).then((isFull) => {
        if (isFull && !ended.signal.aborted) full();
      });
  }

  /** The limit that was exceeded; null while none was. */
  exceededMb(id: string): number | null {
    return this.#watched.get(id)?.exceededMb ?? null;
  }

  end(id: string): void {
    this.#watched.get(id)?.ended.abort();
    this.#watched.delete(id);
  }

  /** Whether it wrote more, before the signal aborts. */
  async #follow(container: string, mb: number, signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      await delay(checkMs, undefined, { signal, ref: false }).catch(ignoreError('it has ended'));
      if (signal.aborted) break;
      const bytes = await this.docker.writtenBytes(container).catch(() => 0);
      if (bytes > mb * 2 ** 20) return true;
    }
    return false;
  }
}
