import type { ProgramSpec } from '../container-host.js';
import type { AgentPort } from './agent-port.js';
import type { Cluster } from './cluster.js';
import { ImageBuilds } from './image-builds.js';
import { LayerExchange } from './layer-exchange.js';
import { MadeImages, type ImageFiles } from './made-images.js';
import { podImagesOf, type PodImages } from './pod-images.js';
import { programPod } from './pod-spec.js';
import type { PodStarts } from './pod-starts.js';

export interface ProgramPodsOptions {
  cluster: Cluster;
  port: AgentPort;
  pods: PodStarts;
  imageFiles: ImageFiles | null;
}

/** The pods of programs, with images that were made here. */
export class ProgramPods {
  /** Null for a host that makes no images. */
  readonly made: MadeImages | null;
  readonly builds: ImageBuilds;
  readonly #layers: LayerExchange;

  constructor(private readonly options: ProgramPodsOptions) {
    const { cluster, port, imageFiles } = options;
    this.made = imageFiles && new MadeImages(imageFiles);
    this.builds = new ImageBuilds(cluster);
    this.#layers = new LayerExchange(this.made);
    port.onRequest((id, { request, response }) => void this.#layers.handle(id, request, response));
  }

  /** Throws `not_found` for a made image that is not there any more. */
  imagesOf(spec: ProgramSpec): Promise<PodImages> {
    return podImagesOf(spec, this.made);
  }

  /** Resolves when the pod runs. */
  async start(spec: ProgramSpec, images: PodImages, signal: AbortSignal): Promise<void> {
    const { id, rights, writtenMb } = spec;
    const mb = writtenMb + (images.first.layers?.mb ?? 0);
    const sendsChanges = rights === 'build' && this.made !== null;
    this.#layers.serve(id, images.layers);
    if (sendsChanges) this.#layers.takeFrom(id, mb);
    const pod = await this.options.pods.start({
      id,
      pod: (place) => programPod(spec, place, { images, sendsChanges }),
      signal,
    });
    if (sendsChanges) this.builds.add(id, pod, { base: images.first.base, mb });
  }

  forget(id: string): void {
    this.#layers.forget(id);
    this.builds.forget(id);
  }
}
