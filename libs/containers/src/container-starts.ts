import { ignoreError } from '@belay/protocol';

/** The starts of a host’s containers, by id: each starts once, until it is forgotten. */
export class ContainerStarts {
  readonly #running = new Map<string, Promise<void>>();
  readonly #started = new Set<string>();

  /** How many are under way. */
  get running(): number {
    return this.#running.size;
  }

  isRunning(id: string): boolean {
    return this.#running.has(id);
  }

  /** Joins a start that is under way, and does nothing after one that succeeded. */
  async once(id: string, start: () => Promise<void>): Promise<void> {
    const before = this.#running.get(id);
    if (before) return before;
    if (this.#started.has(id)) return;
    const started = start()
      .then(() => this.add(id))
      .finally(() => this.#running.delete(id));
    this.#running.set(id, started);
    await started;
  }

  /** An earlier process started it. */
  add(id: string): void {
    this.#started.add(id);
  }

  /** Resolves when no start is under way any more, however it ended. */
  async settled(id: string): Promise<void> {
    await this.#running.get(id)?.catch(ignoreError('who started it is told'));
  }

  forget(id: string): void {
    this.#started.delete(id);
  }
}
