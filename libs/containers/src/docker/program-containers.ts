import { ignoreError } from '@belay/protocol';
import type { Labels, ProgramSpec } from '../container-host.js';
import { containerName, labels } from './container-spec.js';
import type { DockerClient } from './docker.client.js';
import { programContainer, serviceContainer, type ContainerPlace } from './program-container.js';
import { WrittenLimits } from './written-limits.js';

export interface ProgramContainersOptions {
  /** The read-only volume with the starter. */
  runtime: string;
  /** The labels of everything that the owner creates. */
  labels: Labels;
}

/** Makes containers for programs, each with its services beside it. */
export class ProgramContainers {
  readonly #written: WrittenLimits;
  /** The ids of those that were begun, with whether they have services. */
  readonly #begun = new Map<string, boolean>();

  constructor(
    private readonly docker: DockerClient,
    private readonly options: ProgramContainersOptions,
  ) {
    this.#written = new WrittenLimits(docker);
  }

  /** Whether it is a container for programs that was not forgotten yet. */
  has(id: string): boolean {
    return this.#begun.has(id);
  }

  /** They may be there before the container itself. */
  hasServices(id: string): boolean {
    return this.#begun.get(id) ?? false;
  }

  /** The limit of written bytes that was exceeded; null while none was. */
  exceededMb(id: string): number | null {
    return this.#written.exceededMb(id);
  }

  /** Its containers are removed. */
  forget(id: string): void {
    this.#written.end(id);
    this.#begun.delete(id);
  }

  /** Creates a container, which is not started yet; its services are. What it has made before a failure stays. */
  async create(spec: ProgramSpec, socketFolder: string, signal: AbortSignal): Promise<string> {
    this.#begun.set(spec.id, spec.services.length > 0);
    const cpus = await this.docker.cpus();
    const services: string[] = [];
    const placeOf = (name: string, own: Labels): ContainerPlace => ({
      name: containerName(name),
      socketFolder,
      // The first one has the loopback that the others share.
      beside: services[0] ?? null,
      cpus,
      labels: { ...spec.labels, ...this.options.labels, ...own },
    });
    for (const service of spec.services) {
      signal.throwIfAborted();
      const place = placeOf(`${spec.label}-${service.name}`, { [labels.sidecar]: spec.id });
      const created = await this.docker.create(serviceContainer(service, place), {
        boundVolumes: true,
      });
      services.push(created);
      await this.docker.start(created);
    }
    signal.throwIfAborted();
    const place = placeOf(spec.label, { [labels.sandbox]: spec.id });
    const container = await this.docker.create(
      programContainer(spec, { ...place, runtime: this.options.runtime }),
      { boundVolumes: true, owner: spec.user },
    );
    if (spec.archive) await this.docker.unpack(container, spec.archive);
    this.#limit(spec, container, services);
    return container;
  }

  #limit({ id, rights, writtenMb }: ProgramSpec, container: string, services: string[]): void {
    const containers = rights === 'build' ? [container, ...services] : services;
    const exceeded = (): void => {
      for (const one of [container, ...services])
        void this.docker.remove(one).catch(ignoreError('its owner removes it, too'));
    };
    if (containers.length > 0) this.#written.watch(id, { containers, mb: writtenMb, exceeded });
  }
}
