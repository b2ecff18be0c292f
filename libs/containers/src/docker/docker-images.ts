import type { HostImages, Labels, NewImage } from '../container-host.js';
import { idleContainer, labels } from './container-spec.js';
import type { DockerClient } from './docker.client.js';

export interface DockerImagesOptions {
  /** The labels of everything that the owner creates. */
  labels: Labels;
  /** The engine’s id of a container. */
  containerOf(id: string): Promise<string>;
}

export class DockerImages implements HostImages {
  /** Containers that images are looked into with; they never start. */
  helpers = 0;

  constructor(
    private readonly docker: DockerClient,
    private readonly options: DockerImagesOptions,
  ) {}

  id(image: string): Promise<string | undefined> {
    return this.docker.imageId(image);
  }

  async has(image: string): Promise<boolean> {
    return (await this.id(image)) !== undefined;
  }

  async firstPath(image: string, paths: readonly string[]): Promise<string | undefined> {
    const { labels: own } = this.options;
    const name = `belay-${own[labels.instance]}-image`;
    let container: string | undefined;
    this.helpers++;
    try {
      container = await this.docker.create(idleContainer({ name, image, labels: own }));
      for (const path of paths) if (await this.docker.hasPath(container, path)) return path;
      return undefined;
    } finally {
      if (container !== undefined) await this.docker.remove(container);
      this.helpers--;
    }
  }

  fetch(image: string): Promise<boolean> {
    return this.docker.fetchImage(image);
  }

  /** It has the labels of its container. */
  async make(id: string, { name, entrypoint, user }: NewImage): Promise<string> {
    const [repo = '', tag = 'latest'] = name.split(':');
    const changes = [
      `ENTRYPOINT ${JSON.stringify(entrypoint)}`,
      'CMD []',
      'WORKDIR /',
      `USER ${user}`,
      // Those of the starter.
      'ENV BELAY_CONNECTION= BELAY_USER=',
    ];
    return this.docker.commit(await this.options.containerOf(id), { repo, tag, changes });
  }

  madeAs(name: string): Promise<string | undefined> {
    return this.docker.imageId(name);
  }

  async made(): Promise<string[]> {
    return (await this.docker.images(this.docker.ownLabel)).map(({ id }) => id);
  }

  remove(image: string): Promise<void> {
    return this.docker.removeImage(image);
  }

  release(name: string): Promise<boolean> {
    return this.docker.untagImage(name);
  }
}
