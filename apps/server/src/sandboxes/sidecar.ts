import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { Config } from '../config.js';
import { labels, sidecarContainer } from './container-spec.js';
import { DockerClient } from './docker.client.js';
import type { Sandbox } from './sandbox.js';

interface Sidecar {
  container: string;
  endpoint: string;
}

/** How long Chromium may take to listen, in milliseconds. */
const patience = 30_000;

/** Browsers beside sandboxes whose image has none: a container that shares the agent’s loopback. */
@Injectable()
export class Sidecars {
  private readonly sidecars = new Map<string, Promise<Sidecar>>();

  constructor(
    private readonly config: Config,
    private readonly docker: DockerClient,
  ) {}

  /** The DevTools address on the sandbox’s loopback; the same one while that browser runs. */
  async start(sandbox: Sandbox): Promise<string> {
    const running = await this.sidecars.get(sandbox.id)?.catch(() => undefined);
    if (running && (await this.docker.exit(running.container)) === null) return running.endpoint;
    const starting = this.launch(sandbox);
    this.sidecars.set(sandbox.id, starting);
    return (await starting).endpoint;
  }

  /** Removes the browser of a sandbox that ends. */
  async remove(sandbox: string): Promise<void> {
    await this.sidecars.get(sandbox)?.catch(() => {});
    this.sidecars.delete(sandbox);
    await this.removeOthers(sandbox);
  }

  private async launch(sandbox: Sandbox): Promise<Sidecar> {
    await this.removeOthers(sandbox.id);
    const container = await this.docker.create(
      sidecarContainer({
        image: this.config.sidecarImage,
        agent: sandbox.container,
        user: await this.docker.userOf(sandbox.container),
        workspace: sandbox.volumes.workspace,
        limits: {
          memoryMb: Math.max(1024, this.config.memoryMb),
          cpus: Math.min(this.config.cpus, await this.docker.cpus()),
        },
        labels: {
          [labels.instance]: this.config.instance,
          [labels.data]: this.config.data,
          [labels.sidecar]: sandbox.id,
        },
      }),
    );
    try {
      await this.docker.start(container);
      return { container, endpoint: await this.endpoint(container) };
    } catch (error) {
      await this.docker.remove(container);
      throw error;
    }
  }

  /** One of a server that is gone, or one that died. */
  private async removeOthers(sandbox: string): Promise<void> {
    const found = await this.docker.list(`${labels.sidecar}=${sandbox}`);
    await Promise.all(found.map(({ id }) => this.docker.remove(id)));
  }

  /** Chromium chooses a free port and prints its address. */
  private async endpoint(container: string): Promise<string> {
    const end = Date.now() + patience;
    while (Date.now() < end) {
      const printed = await this.docker.lastLines(container);
      const address = /DevTools listening on (ws:\/\/\S+)/.exec(printed)?.[1];
      if (address) return address;
      if (await this.docker.exit(container)) throw noBrowser(this.config.sidecarImage, printed);
      await delay(50);
    }
    throw noBrowser(this.config.sidecarImage, `It did not start within ${patience / 1000} s.`);
  }
}

function noBrowser(image: string, why: string): AppError {
  const line = why.split('\n').at(-1)?.trim();
  const detail = line ? ` ${line}` : '';
  return new AppError(
    'unavailable',
    `The image ${image} gives no browser: set BELAY_SIDECAR to one with Chromium.${detail}`,
  );
}
