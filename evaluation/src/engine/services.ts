import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskContainer, TaskHost, ContainerNetwork } from '@belay/containers';
import { AppError } from '@belay/protocol';
import { createTask } from './task-files.js';
import type { Service, ServiceNeeds } from '../model.js';

export interface ServicesSpec {
  host: TaskHost;
  run: string;
  services: Service[];
  needs: ServiceNeeds;
  /** The images of the services, by name. */
  images: Map<string, string>;
  /** The image of the container that holds the network; it needs `sleep`. */
  holder: string;
  network: 'none' | 'bridge';
  /** Within which all must be ready, in seconds. */
  seconds: number;
  signal: AbortSignal;
}

const pollMs = 200;

/**
 * The services of one trial. They share one network namespace with the agent's and the verifier's
 * containers, as the containers of a Kubernetes pod do: all names lead to its loopback address, so
 * no bridge is needed, and nothing outside can be reached. Two services cannot use the same port.
 * They keep running from the first use until `stop`.
 */
export class Services {
  readonly #spec: ServicesSpec;
  readonly #containers = new Map<string, TaskContainer>();
  #holder: TaskContainer | undefined;
  #started: Promise<ContainerNetwork> | undefined;

  constructor(spec: ServicesSpec) {
    this.#spec = spec;
  }

  /**
   * The network for containers that use the services; starts them when first asked for, in the
   * network of the container `join` or in a new one. Rejects with `invalid_input` when one does not
   * become ready.
   */
  network(join?: string): Promise<ContainerNetwork> {
    return (this.#started ??= this.#start(join));
  }

  get hosts(): string[] {
    return [...new Set(this.#spec.services.flatMap(({ hosts }) => hosts))];
  }

  container(service: string): TaskContainer | undefined {
    return this.#containers.get(service);
  }

  stop(): void {
    for (const container of this.#containers.values()) this.#spec.host.discard(container);
    if (this.#holder) this.#spec.host.discard(this.#holder);
  }

  async #start(join: string | undefined): Promise<ContainerNetwork> {
    const { host, run, holder, network, services, needs } = this.#spec;
    this.#holder = await createTask(host, {
      run,
      image: holder,
      command: ['sleep', 'infinity'],
      user: 'root',
      workdir: '/',
      env: {},
      cpus: 0.1,
      memoryMb: 16,
      network: join === undefined ? network : `container:${join}`,
      hosts: this.hosts,
      files: [],
    });
    await this.#holder.start();
    const shared = { network: `container:${this.#holder.id}` as const, hosts: this.hosts };
    const deadline = Date.now() + this.#spec.seconds * 1000;
    for (const service of services) {
      await this.#ready(service.needs, deadline);
      await this.#startService(service, shared);
    }
    await this.#ready(needs, deadline);
    return shared;
  }

  async #startService(service: Service, shared: ContainerNetwork): Promise<void> {
    const { host, run, images } = this.#spec;
    const container = await createTask(host, {
      run,
      image: images.get(service.name) ?? '',
      entrypoint: service.entrypoint,
      command: service.command,
      user: service.user,
      workdir: service.workdir,
      env: service.env,
      cpus: service.cpus,
      memoryMb: service.memoryMb,
      ...shared,
      healthcheck: service.healthcheck,
      files: service.files,
    });
    this.#containers.set(service.name, container);
    await container.start();
  }

  async #ready(needs: ServiceNeeds, deadline: number): Promise<void> {
    for (const [name, how] of Object.entries(needs))
      for (;;) {
        const fault = await this.#faultOf(name, how);
        if (fault === null) break;
        if (fault !== undefined) throw await this.#notReady(name, fault);
        if (Date.now() > deadline)
          throw await this.#notReady(name, `is not ${how} after ${this.#spec.seconds} s`);
        await sleep(pollMs, undefined, { signal: this.#spec.signal });
      }
  }

  /** Null for a service that is ready; undefined for one that may become ready. */
  async #faultOf(name: string, how: ServiceNeeds[string]): Promise<string | null | undefined> {
    const state = await this.#containers.get(name)?.state();
    if (!state) return 'was not started';
    if (how === 'started') return null;
    if (how === 'completed') {
      if (state.running) return undefined;
      return state.exitCode === 0 ? null : `ended with exit code ${state.exitCode}`;
    }
    if (!state.running) return `ended with exit code ${state.exitCode}`;
    if (state.health === null) return 'has no healthcheck, but must be healthy';
    return state.health === 'healthy' ? null : undefined;
  }

  async #notReady(name: string, fault: string): Promise<AppError> {
    const said = (await this.#containers.get(name)?.tail(20)) ?? '';
    return new AppError(
      'invalid_input',
      `The service ${name} ${fault}.${said ? `\n${said.slice(-2_000)}` : ''}`,
    );
  }
}
