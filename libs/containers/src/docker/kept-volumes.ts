import type { Readable } from 'node:stream';
import { ignoreError } from '@belay/protocol';
import type { HostKeptFiles, Labels } from '../container-host.js';
import { watchedTar } from '../watched-tar.js';
import { idleContainer, labels } from './container-spec.js';
import type { DockerClient } from './docker.client.js';

export interface KeptVolumesOptions {
  /** The image of containers that never start, through which volumes are filled. */
  image: string;
  /** The labels of everything that the owner creates. */
  labels: Labels;
  /** The image whose folders give new homes their owner. */
  runtimeImage(): Promise<string>;
}

/** Where a volume is in the container through which it is filled. */
const folder = '/kept';

/**
 * Volumes with names of their own. They lack the label of the files of containers, which are removed with their
 * sandboxes.
 */
export class KeptVolumes implements HostKeptFiles {
  readonly #instance: string;
  readonly #others: Labels;

  constructor(
    private readonly docker: DockerClient,
    private readonly options: KeptVolumesOptions,
  ) {
    const { [labels.instance]: instance = '', ...others } = options.labels;
    this.#instance = instance;
    this.#others = others;
  }

  async fill(name: string, tar: Readable): Promise<void> {
    const { archive, broken } = watchedTar(tar);
    await this.docker.removeVolume(name);
    const own = { ...this.#others, [labels.agent]: this.#instance };
    const container = await this.docker.create(
      idleContainer({
        name: `${name}-fill`,
        image: this.options.image,
        labels: own,
        volume: { name, target: folder, labels: own },
      }),
    );
    try {
      broken.throwIfAborted();
      await this.docker.unpack(container, archive, { path: folder, signal: broken });
      broken.throwIfAborted();
    } catch (error) {
      await this.docker.remove(container);
      await this.remove(name).catch(ignoreError('`keepOnly` removes it'));
      broken.throwIfAborted();
      throw error;
    }
    await this.docker.remove(container);
  }

  async remove(name: string): Promise<void> {
    await this.docker.removeVolume(name);
  }

  async keepOnly(names: readonly string[]): Promise<void> {
    const label = `${labels.agent}=${this.#instance}`;
    for (const { id } of await this.docker.list(label)) await this.docker.remove(id);
    for (const name of await this.docker.volumes(label))
      if (!names.includes(name)) await this.docker.removeVolume(name);
  }

  /** Makes a volume if there is none: it takes over the owner of the home folder in the runtime’s image. */
  async makeHome(name: string): Promise<void> {
    if (await this.docker.volumeLabels(name)) return;
    const container = await this.docker.create(
      idleContainer({
        name: `${name}-make`,
        image: await this.options.runtimeImage(),
        labels: this.options.labels,
        volume: {
          name,
          target: '/var/lib/belay',
          labels: { ...this.#others, [labels.login]: this.#instance },
          seeded: true,
        },
      }),
    );
    await this.docker.remove(container);
  }
}
