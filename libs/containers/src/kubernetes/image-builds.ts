import { AppError, visibleText } from '@belay/protocol';
import type { V1Pod } from '@kubernetes/client-node';
import type { Cluster } from './cluster.js';
import type { MadeImage } from './made-images.js';
import { firstContainer } from './pod-parts.js';
import { exitCodeOfPod, pinnedImageOf } from './pod-state.js';

type Built = Pick<MadeImage, 'base' | 'mb'>;

/** The pods whose files may become images, until they are removed. */
export class ImageBuilds {
  /** By id, with the name of the pod. */
  readonly #begun = new Map<string, Built & { pod: string }>();

  constructor(private readonly cluster: Cluster) {}

  /** The pod runs. Its image may be another one later, but not by its digest. */
  add(id: string, pod: V1Pod, { base, mb }: Built): void {
    const name = pod.metadata?.name ?? '';
    this.#begun.set(id, { base: pinnedImageOf(pod) ?? base, mb, pod: name });
  }

  forget(id: string): void {
    this.#begun.delete(id);
  }

  /** Throws `unavailable` unless it has ended well: then it has sent what it has written. */
  async ended(id: string): Promise<Built> {
    const begun = this.#begun.get(id);
    const name = begun?.pod ?? '';
    const pod = begun && (await this.cluster.pod(name));
    if (begun && pod && exitCodeOfPod(pod) === 0) return { base: begun.base, mb: begun.mb };
    const printed = await this.cluster.lastLines(name, firstContainer, 1);
    const why = visibleText(printed.trim().slice(0, 300)) || 'Its container has failed.';
    throw new AppError('unavailable', `The image could not be made. ${why}`);
  }
}
