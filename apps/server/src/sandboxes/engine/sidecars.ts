import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import {
  containerName,
  DockerClient,
  labels,
  type SandboxVolumes,
  sidecarContainer,
} from '@belay/containers';
import { AppError, ignoreError } from '@belay/protocol';
import { Config } from '../../config.js';
import { ownerLabels } from '../../owner-labels.js';

/** The sandbox that a browser container belongs to. */
interface Neighbour {
  id: string;
  session: string | null;
  container: string;
  volumes: SandboxVolumes;
}

interface Sidecar {
  container: string;
  endpoint: string;
}

/** How long Chromium may take to listen, in milliseconds. */
const startTimeoutMs = 30_000;

/** Browsers beside sandboxes whose image has none: a container that shares the agent’s loopback. */
@Injectable()
export class Sidecars {
  readonly #sidecars = new Map<string, Promise<Sidecar>>();

  constructor(
    private readonly config: Config,
    private readonly docker: DockerClient,
  ) {}

  /** The DevTools address on the sandbox’s loopback; repeated calls return the same running browser. */
  async start(sandbox: Neighbour): Promise<string> {
    const known = this.#sidecars.get(sandbox.id);
    const running = await known?.catch(() => undefined);
    if (running && (await this.docker.exit(running.container)) === null) return running.endpoint;
    // Another request may have started it meanwhile: a sandbox has one browser.
    const now = this.#sidecars.get(sandbox.id);
    const starting = now === known || now === undefined ? this.#launch(sandbox) : now;
    this.#sidecars.set(sandbox.id, starting);
    return (await starting).endpoint;
  }

  /** Whether a sandbox has a browser. */
  has(sandbox: string): boolean {
    return this.#sidecars.has(sandbox);
  }

  /** Removes the browser of a sandbox that ends. */
  async remove(sandbox: string): Promise<void> {
    await this.#sidecars.get(sandbox)?.catch(ignoreError('what there is of it is removed below'));
    this.#sidecars.delete(sandbox);
    await this.#removeOthers(sandbox);
  }

  async #launch(sandbox: Neighbour): Promise<Sidecar> {
    await this.#removeOthers(sandbox.id);
    const container = await this.docker.create(
      sidecarContainer({
        name: containerName(sandbox, 'browser'),
        image: this.config.sidecarImage,
        agent: sandbox.container,
        user: await this.docker.userOf(sandbox.container),
        workspace: sandbox.volumes.workspace,
        limits: {
          memoryMb: Math.max(1024, this.config.memoryMb),
          cpus: Math.min(this.config.cpus, await this.docker.cpus()),
        },
        labels: ownerLabels(this.config, { [labels.sidecar]: sandbox.id }),
      }),
    );
    try {
      await this.docker.start(container);
      return { container, endpoint: await this.#endpoint(container) };
    } catch (error) {
      await this.docker.remove(container);
      throw error;
    }
  }

  /** Removes a browser of an earlier server, or one that has exited. */
  async #removeOthers(sandbox: string): Promise<void> {
    const found = await this.docker.list(`${labels.sidecar}=${sandbox}`);
    await Promise.all(found.map(({ id }) => this.docker.remove(id)));
  }

  /** Chromium chooses a free port and prints its address. */
  async #endpoint(container: string): Promise<string> {
    const end = Date.now() + startTimeoutMs;
    while (Date.now() < end) {
      const printed = await this.docker.lastLines(container);
      const address = /DevTools listening on (ws:\/\/\S+)/.exec(printed)?.[1];
      if (address) return address;
      if (await this.docker.exit(container)) throw noBrowser(this.config.sidecarImage, printed);
      await delay(50);
    }
    throw noBrowser(
      this.config.sidecarImage,
      `It did not start within ${startTimeoutMs / 1000} s.`,
    );
  }
}

function noBrowser(image: string, why: string): AppError {
  const line = why.split('\n').at(-1)?.trim();
  const detail = line ? ` ${line}` : '';
  return new AppError(
    'unavailable',
    `The image ${image} has no browser: set BELAY_SIDECAR to one with Chromium.${detail}`,
  );
}
