import { randomBytes } from 'node:crypto';
import { AppError, errorFrom } from '@belay/protocol';
import type { V1Pod } from '@kubernetes/client-node';
import type { HostImages, NewImage } from '../container-host.js';
import type { ImageBuilds } from './image-builds.js';
import type { MadeImages } from './made-images.js';
import { exitCodeOfPod, imageOf } from './pod-state.js';

/** Runs a command of the runtime in a pod of an image until it ends; the pod is removed then. */
export type RunInImage = (spec: {
  id: string;
  image: string;
  command: readonly string[];
}) => Promise<V1Pod>;

/** Exits with the place of the first of its arguments that is a path of the image; 0 for none. */
const findPath =
  'process.exitCode = process.argv.slice(1).findIndex((path) => require("node:fs").existsSync(path)) + 1';

/**
 * Nodes pull images and remove unused ones by themselves, so nobody else does. Only a pod shows what an image is. Those
 * that are made here are no images of nodes: see `MadeImages`.
 */
export class ClusterImages implements HostImages {
  constructor(
    private readonly run: RunInImage,
    /** Null for a host that makes none. */
    private readonly ours: MadeImages | null,
    private readonly builds: ImageBuilds,
  ) {}

  async id(image: string): Promise<string | undefined> {
    try {
      return imageOf(await this.#look(image));
    } catch (error) {
      if (errorFrom(error).code === 'not_found') return undefined;
      throw error;
    }
  }

  /** Which nodes have an image is not known, nor which of them a pod gets. */
  async has(): Promise<boolean> {
    return false;
  }

  async firstPath(image: string, paths: readonly string[]): Promise<string | undefined> {
    const code = exitCodeOfPod(await this.#look(image, paths)) ?? 0;
    return paths[code - 1];
  }

  /** None counts as missing: what a node pulls, it removes itself. */
  async fetch(image: string): Promise<boolean> {
    // A node gets its base with the pod that runs it.
    if (!(await this.ours?.find(image))) await this.#look(image);
    return false;
  }

  async make(id: string, { name, entrypoint, user }: NewImage): Promise<string> {
    if (!this.ours) throw new AppError('unavailable', 'This host cannot make images.');
    const built = await this.builds.ended(id);
    return this.ours.make(id, { ...built, name, entrypoint: [...entrypoint], user });
  }

  async madeAs(name: string): Promise<string | undefined> {
    return this.ours?.named(name);
  }

  async made(): Promise<string[]> {
    return (await this.ours?.all()) ?? [];
  }

  async remove(image: string): Promise<void> {
    await this.ours?.remove(image);
  }

  async release(): Promise<boolean> {
    return true;
  }

  /** Of an image that was made, its base. */
  async #look(image: string, paths: readonly string[] = []): Promise<V1Pod> {
    const base = (await this.ours?.find(image))?.base ?? image;
    const command = ['-e', findPath, '--', ...paths];
    return this.run({ id: randomBytes(6).toString('hex'), image: base, command });
  }
}
