import type { V1Pod } from '@kubernetes/client-node';
import { AppError } from '@belay/protocol';
import type { DialIn } from '../container-host.js';
import { keys } from './names.js';
import type { PodPlace } from './pod-parts.js';
import type { PodStarts } from './pod-starts.js';

/** The labels of a pod that the owner of its host does not know. */
export const ownLabels = { [keys.own]: '' };

/** Pods for the host’s own work: nobody else sees them, and the next process of the owner removes those that are left. */
export class OwnPods {
  /** By id, with who takes their dials. */
  readonly #pods = new Map<string, ((dial: DialIn) => void) | null>();

  readonly #closing = new AbortController();

  constructor(private readonly starts: PodStarts) {}

  has(id: string): boolean {
    return this.#pods.has(id);
  }

  /** False for a dial of another pod. */
  take(id: string, dial: DialIn): boolean {
    const take = this.#pods.get(id);
    take?.(dial);
    return Boolean(take);
  }

  /** Resolves when the pod runs; it stays until `remove`. */
  async start(
    id: string,
    pod: (place: PodPlace) => V1Pod,
    take: ((dial: DialIn) => void) | null = null,
  ): Promise<V1Pod> {
    this.#pods.set(id, take);
    return this.starts.start({ id, pod, signal: this.#closing.signal });
  }

  /** Resolves when the pod has ended, with what `look` reads of it. Nothing of it is left. */
  async run<T>(
    id: string,
    pod: (place: PodPlace) => V1Pod,
    look: (ended: V1Pod) => T | Promise<T>,
  ): Promise<T> {
    this.#pods.set(id, null);
    try {
      return await look(await this.starts.run({ id, pod, signal: this.#closing.signal }));
    } finally {
      await this.remove(id);
    }
  }

  async remove(id: string): Promise<void> {
    await this.starts.remove(id);
    this.#pods.delete(id);
  }

  /** Gives up what has not started yet. */
  close(): void {
    this.#closing.abort(new AppError('unavailable', 'The server is closing.'));
  }
}
