import { setTimeout as delay } from 'node:timers/promises';
import { AppError, ignoreError } from '@belay/protocol';
import type { Labels, Limits } from '../container-host.js';
import { labels, sidecarContainer } from './container-spec.js';
import type { DockerClient } from './docker.client.js';

/** What browsers beside containers run. */
export interface BrowserImage {
  /** An image with Chromium. */
  image: string;
  limits: Limits;
}

interface Browser {
  container: string;
  endpoint: string;
}

/** How long Chromium may take to listen, in milliseconds. */
const startTimeoutMs = 30_000;

/** Browsers beside containers whose image has none: a container that shares the loopback of the other one. */
export class Browsers {
  readonly #browsers = new Map<string, Promise<Browser>>();

  constructor(
    private readonly docker: DockerClient,
    private readonly options: BrowserImage & { labels: Labels },
  ) {}

  /** The DevTools address on the loopback of a container; repeated calls return the same running browser. */
  async start(id: string, container: string): Promise<string> {
    const known = this.#browsers.get(id);
    const running = await known?.catch(() => undefined);
    if (running && (await this.docker.exit(running.container)) === null) return running.endpoint;
    // Another request may have started it meanwhile: a container has one browser.
    const now = this.#browsers.get(id);
    const starting = now === known || now === undefined ? this.#launch(id, container) : now;
    this.#browsers.set(id, starting);
    return (await starting).endpoint;
  }

  has(id: string): boolean {
    return this.#browsers.has(id);
  }

  /** Of a container that ends, which is removed with everything beside it; waits for a start that is under way. */
  async forget(id: string): Promise<void> {
    await this.#browsers.get(id)?.catch(ignoreError('what there is of it is removed, too'));
    this.#browsers.delete(id);
  }

  async #launch(id: string, agent: string): Promise<Browser> {
    await this.#removeOthers(id);
    const { image, limits } = this.options;
    const beside = await this.docker.agentOf(agent);
    if (!beside) throw new AppError('unavailable', 'The sandbox is gone.');
    const container = await this.docker.create(
      sidecarContainer({
        ...beside,
        name: `${beside.name}-browser`,
        image,
        agent,
        limits: { ...limits, cpus: Math.min(limits.cpus, await this.docker.cpus()) },
        labels: { ...this.options.labels, [labels.sidecar]: id },
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

  /** Removes a browser of an earlier process, or one that has exited. */
  async #removeOthers(id: string): Promise<void> {
    const found = await this.docker.list(`${labels.sidecar}=${id}`);
    await Promise.all(found.map((one) => this.docker.remove(one.id)));
  }

  /** Chromium chooses a free port and prints its address. */
  async #endpoint(container: string): Promise<string> {
    const { image } = this.options;
    const end = Date.now() + startTimeoutMs;
    while (Date.now() < end) {
      const printed = await this.docker.lastLines(container);
      const address = /DevTools listening on (ws:\/\/\S+)/.exec(printed)?.[1];
      if (address) return address;
      if (await this.docker.exit(container)) throw noBrowser(image, printed);
      await delay(50);
    }
    throw noBrowser(image, `It did not start within ${startTimeoutMs / 1000} s.`);
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
