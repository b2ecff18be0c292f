import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { pullFailed } from './errors.js';
import { assertOpenRegistry } from './image-registry.js';

/** What the engine reports of a pull. */
interface PullStep {
  error?: string;
}

/** Pulls images; a pull that is already running is awaited instead. */
export class ImagePulls {
  readonly #running = new Map<string, Promise<void>>();

  /** `trusted` images may come from any registry; others, from public ones. */
  constructor(
    private readonly docker: Docker,
    private readonly trusted: readonly string[],
  ) {}

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
    if (!this.trusted.includes(image)) await assertOpenRegistry(image);
    try {
      const progress = (await this.docker.pull(image)) as Readable;
      await new Promise<void>((resolve, reject) => {
        this.docker.modem.followProgress(progress, (error, steps: PullStep[] | null) => {
          // A pull that fails once it has begun says so in its last step.
          const fault = error ?? steps?.find((step) => step.error)?.error;
          if (fault) reject(typeof fault === 'string' ? new Error(fault) : fault);
          else resolve();
        });
      });
    } catch (error) {
      throw pullFailed(image, error);
    }
  }
}
