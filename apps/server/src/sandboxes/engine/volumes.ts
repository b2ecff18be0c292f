import { Injectable } from '@nestjs/common';
import {
  containerName,
  DockerClient,
  idleContainer,
  labels,
  ownershipContainer,
  type SandboxVolumes,
  seedsVolumes,
} from '@belay/containers';
import { AppError, ignoreError, type SandboxProfile } from '@belay/protocol';
import { SessionAgents, type AgentMounts } from '../../agents/session-agents.js';
import { Config } from '../../config.js';
import { ownerLabels } from '../../owner-labels.js';

export interface FreshVolumes {
  sandbox: string;
  session: string | null;
  volumes: SandboxVolumes;
  image: string;
  profile: SandboxProfile;
}

/** The volumes of sandboxes, the runtime volume, and those of installed agents. */
@Injectable()
export class Volumes {
  /** Containers that set the owner of new volumes, by sandbox; they use the volumes until they are removed. */
  readonly #owners = new Map<string, string>();
  readonly #removals = new Map<string, Promise<void>>();
  /** Volumes that could not be removed. An engine killed while it creates one has not written its labels. */
  readonly unremoved = new Set<string>();
  #runtimeImage: Promise<string> | undefined;

  constructor(
    private readonly config: Config,
    private readonly docker: DockerClient,
    private readonly agents: SessionAgents,
  ) {}

  /** What a sandbox needs for its agent; undefined for Belay’s own. Throws as `SessionAgents.mounts` does. */
  async ofAgent(of: Parameters<SessionAgents['mounts']>[0]): Promise<AgentMounts | undefined> {
    const mounts = await this.agents.mounts(of);
    if (mounts?.login) await this.#makeHome(mounts.login.name);
    return mounts;
  }

  /**
   * Prepares volumes, which are created with the container that mounts them. Returns whether they get their owner from
   * its image.
   */
  async prepare({ sandbox, session, volumes, image, profile }: FreshVolumes): Promise<boolean> {
    const runtime = await this.runtime();
    // New volumes belong to root.
    if (profile === 'root') return false;
    // Images based on the default image inherit its label, but may have files of their own there.
    const isDefault = image === this.config.image;
    if (isDefault && (await this.docker.imageLabel(image, seedsVolumes)) !== undefined) return true;
    const spec = {
      name: containerName({ id: sandbox, session }, 'volumes'),
      image: runtime,
      volumes,
      labels: ownerLabels(this.config),
      volumeLabels: ownerLabels(this.config, { [labels.sandbox]: sandbox }),
    };
    this.#owners.set(sandbox, await this.docker.create(ownershipContainer(spec)));
    return false;
  }

  /**
   * Removes the container that set the owner of a sandbox’s volumes; after a failure, the server’s next start does.
   */
  releaseOwner(sandbox: string): void {
    const owner = this.#owners.get(sandbox);
    if (owner === undefined) return;
    this.#owners.delete(sandbox);
    const removal = this.docker
      .remove(owner)
      .catch(ignoreError('the next start of the server removes it'));
    this.#removals.set(sandbox, removal);
    void removal.then(() => this.#removals.delete(sandbox));
  }

  /** Throws when the engine fails; the volumes are then among the `unremoved`. */
  async remove({ workspace, state }: SandboxVolumes, sandbox?: string): Promise<void> {
    if (sandbox !== undefined) await this.#removals.get(sandbox);
    await Promise.all([this.removeOne(workspace), this.removeOne(state)]);
  }

  async removeOne(name: string): Promise<void> {
    this.unremoved.add(name);
    await this.docker.removeVolume(name);
    this.unremoved.delete(name);
  }

  /** The image that the runtime volume was filled from. Throws `unavailable` when the volume does not exist. */
  runtime(): Promise<string> {
    this.#runtimeImage ??= this.#findRuntime().catch((error: unknown) => {
      this.#runtimeImage = undefined;
      throw error;
    });
    return this.#runtimeImage;
  }

  /** A new volume takes over the owner of the folder in the runtime’s image, as those of sandboxes do. */
  async #makeHome(name: string): Promise<void> {
    if (await this.docker.volumeLabels(name)) return;
    const target = '/var/lib/belay';
    const { instance, data } = this.config;
    // Without the label of sandboxes’ volumes, which are removed with their sandboxes.
    const own = { [labels.login]: instance, [labels.data]: data };
    const container = await this.docker.create(
      idleContainer({
        name: `${name}-make`,
        image: await this.runtime(),
        labels: ownerLabels(this.config),
        volume: { name, target, labels: own, seeded: true },
      }),
    );
    await this.docker.remove(container);
  }

  async #findRuntime(): Promise<string> {
    const volume = this.config.runtimeVolume;
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
