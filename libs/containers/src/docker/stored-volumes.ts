import { AppError, ignoreError } from '@belay/protocol';
import type { ContainerSpec, Labels, OthersAlive } from '../container-host.js';
import {
  containerName,
  labels,
  ownershipContainer,
  seedsVolumes,
  type SandboxVolumes,
} from './container-spec.js';
import type { DockerClient } from './docker.client.js';

export interface StoredVolumesOptions {
  /** The default image, whose empty folders give new volumes their owner. */
  image: string;
  /** The read-only volume with the agent. */
  runtime: string;
  /** The labels of everything that the owner creates. */
  labels: Labels;
  /** Undefined where no other server shares the engine. */
  others?: OthersAlive | undefined;
}

/** The volumes with the files of containers, and the runtime volume. */
export class StoredVolumes {
  /** Containers that set the owner of new volumes, by their files; they use the volumes until they are removed. */
  readonly #owners = new Map<string, string>();
  readonly #removals = new Map<string, Promise<void>>();
  /** Volumes that could not be removed. An engine killed while it creates one has not written its labels. */
  readonly #unremoved = new Set<string>();
  #runtimeImage: Promise<string> | undefined;

  constructor(
    private readonly docker: DockerClient,
    private readonly options: StoredVolumesOptions,
  ) {}

  /**
   * Prepares volumes, which are created with the container that mounts them. Returns whether they get their owner from
   * its image.
   */
  async prepare({ id, label, files, image, rights }: ContainerSpec): Promise<boolean> {
    const runtime = await this.runtimeImage();
    // New volumes belong to root.
    if (rights === 'root') return false;
    // Images based on the default image inherit its label, but may have files of their own there.
    const isDefault = image === this.options.image;
    if (isDefault && (await this.docker.imageLabel(image, seedsVolumes)) !== undefined) return true;
    if (await this.has(files)) return false;
    const volumes = volumesOf(files);
    const spec = {
      name: containerName(label, 'volumes'),
      image: runtime,
      volumes,
      labels: this.options.labels,
      volumeLabels: { ...this.options.labels, [labels.sandbox]: id },
    };
    this.#owners.set(files, await this.docker.create(ownershipContainer(spec)));
    return false;
  }

  /** Removes the container that set the owner of new volumes; after a failure, the next process does. */
  releaseOwner(files: string): void {
    const owner = this.#owners.get(files);
    if (owner === undefined) return;
    this.#owners.delete(files);
    const removal = this.docker.remove(owner).catch(ignoreError('the next process removes it'));
    this.#removals.set(files, removal);
    void removal.then(() => this.#removals.delete(files));
  }

  /** Whether the workspace is there. */
  async has(files: string): Promise<boolean> {
    return (await this.docker.volumeLabels(volumesOf(files).workspace)) !== undefined;
  }

  /** The names of all files, except of those of other servers that are alive. */
  async list(): Promise<string[]> {
    const labelled = await this.docker.volumes(this.docker.ownLabel, this.options.others);
    const found = [...labelled, ...this.#unremoved];
    return [...new Set(found.flatMap((volume) => filesIn.exec(volume)?.[1] ?? []))];
  }

  async remove(files: string): Promise<void> {
    await this.#removals.get(files);
    await Promise.all(Object.values(volumesOf(files)).map((volume) => this.#removeOne(volume)));
  }

  /** The image that the runtime volume was filled from. Throws `unavailable` when the volume does not exist. */
  runtimeImage(): Promise<string> {
    this.#runtimeImage ??= this.#findRuntime().catch((error: unknown) => {
      this.#runtimeImage = undefined;
      throw error;
    });
    return this.#runtimeImage;
  }

  async #removeOne(volume: string): Promise<void> {
    this.#unremoved.add(volume);
    await this.docker.removeVolume(volume);
    this.#unremoved.delete(volume);
  }

  async #findRuntime(): Promise<string> {
    const volume = this.options.runtime;
    const found = await this.docker.volumeLabels(volume);
    if (!found) {
      throw new AppError(
        'unavailable',
        `The agent’s runtime (the volume ${volume}) is missing. Run npm start, which builds it.`,
      );
    }
    // The volume was filled by a container with the same name, made from the runtime image.
    return (
      (await this.docker.imageOf(volume)) ?? `belay/runtime:${found['belay.runtime'] ?? 'latest'}`
    );
  }
}

/** The engine cannot rename volumes, so their names have only the files’ own. */
export const volumesOf = (files: string): SandboxVolumes => ({
  workspace: `belay-${files}-workspace`,
  state: `belay-${files}-state`,
});

const filesIn = /^belay-(.+)-(?:workspace|state)$/;
