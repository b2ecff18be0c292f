import { randomBytes } from 'node:crypto';
import { AppError, errorFrom } from '@belay/protocol';
import type { V1Pod } from '@kubernetes/client-node';
import type { HostImages } from '../container-host.js';
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

/** Nodes pull images and remove unused ones by themselves, so nobody else does. Only a pod shows what an image is. */
export class ClusterImages implements HostImages {
  constructor(private readonly run: RunInImage) {}

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
    await this.#look(image);
    return false;
  }

  async make(): Promise<string> {
    throw new AppError('unavailable', 'Kubernetes cannot make images.');
  }

  async made(): Promise<string[]> {
    return [];
  }

  async remove(): Promise<void> {}

  async release(): Promise<boolean> {
    return true;
  }

  #look(image: string, paths: readonly string[] = []): Promise<V1Pod> {
    const command = ['-e', findPath, '--', ...paths];
    return this.run({ id: randomBytes(6).toString('hex'), image, command });
  }
}
