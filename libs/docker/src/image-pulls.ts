import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { pullFailed } from './errors.js';

/** Pulls images; a pull that is already running is awaited instead. */
export class ImagePulls {
  readonly #running = new Map<string, Promise<void>>();

  constructor(private readonly docker: Docker) {}

  /** Whether this call started the pull. Throws one sentence. */
  async pull(image: string): Promise<boolean> {
    const running = this.#running.get(image);
    if (running) {
      await running;
      return false;
    }
    const pull = this.#pullOnce(image).finally(() => this.#running.delete(image));
    this.#running.set(image, pull);
    await pull;
    return true;
  }

  async #pullOnce(image: string): Promise<void> {
    try {
      const progress = (await this.docker.pull(image)) as Readable;
      await new Promise<void>((resolve, reject) => {
        this.docker.modem.followProgress(progress, (error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      throw pullFailed(image, error);
    }
  }
}
