import { Injectable } from '@nestjs/common';
import { ContainerHost, RemoteHost } from '@belay/containers';
import { AppError } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import { Config } from '../../config.js';
import { ContainerDials } from '../../containers/container-dials.js';
import { MachineStore, type StoredMachine } from './machine.store.js';

/** A host of containers and the sandboxes on it: those of one machine, or of this server. */
export interface SandboxHost {
  readonly host: ContainerHost;
  /** Undefined for this server’s own. */
  readonly machine: string | undefined;
  /** Aborts when the machine is removed. */
  readonly signal: AbortSignal;
}

interface MachineHost extends SandboxHost {
  readonly host: RemoteHost;
  readonly machine: string;
  readonly removed: AbortController;
  /** Resolves when its containers are known, and none is left of sandboxes that ended while it was away. */
  checked: PromiseWithResolvers<void>;
  isChecked: boolean;
}

/** How long a machine that has just connected may take to report its containers. */
const checkTimeoutMs = 30_000;

/** The hosts of containers by machine: this server’s own, and one for each joined machine with containers. */
@Injectable()
export class MachineHosts {
  /** This server’s own. */
  readonly own: SandboxHost;
  #isOwnAway = false;
  readonly #machines = new Map<string, MachineHost>();
  #onAdded: (host: SandboxHost) => void = () => {};
  #onChanged: (machine: string) => void = () => {};

  constructor(
    private readonly config: Config,
    host: ContainerHost,
    private readonly dials: ContainerDials,
    private readonly store: MachineStore,
  ) {
    this.own = { host, machine: undefined, signal: new AbortController().signal };
    for (const machine of store.all()) if (machine.kind === 'container') this.add(machine);
  }

  /** Undefined for a machine without containers, and for one that was removed. */
  of(machine: string | undefined): ContainerHost | undefined {
    return machine === undefined ? this.own.host : this.#machines.get(machine)?.host;
  }

  /** Called with each host of a machine, also with those that are already there. */
  onAdded(listener: (host: SandboxHost) => void): void {
    this.#onAdded = listener;
    for (const machine of this.#machines.values()) listener(machine);
  }

  /** Called with each machine that can begin containers, again after it was away, and when it begins or ends draining. */
  onChanged(listener: (machine: string) => void): void {
    this.#onChanged = listener;
  }

  /** The machine takes sessions again, or no longer. */
  changed(machine: string): void {
    this.#onChanged(machine);
  }

  /** The host of a machine with containers. */
  add({ id, name }: StoredMachine): RemoteHost {
    const known = this.#machines.get(id);
    if (known) return known.host;
    const host = new RemoteHost({ name: `The machine ${name}`, image: this.config.image });
    this.dials.follow(host);
    const removed = new AbortController();
    const { signal } = removed;
    const checked = Promise.withResolvers<void>();
    const added = { host, machine: id, removed, signal, checked, isChecked: false };
    this.#machines.set(id, added);
    this.#onAdded(added);
    return host;
  }

  async remove(machine: string): Promise<void> {
    const found = this.#machines.get(machine);
    this.#machines.delete(machine);
    found?.removed.abort();
    await found?.host.close();
  }

  /** The containers of a host are known now, or not any more. */
  setChecked({ machine }: SandboxHost, isChecked: boolean): void {
    if (machine === undefined) this.#isOwnAway = !isChecked;
    const found = machine === undefined ? undefined : this.#machines.get(machine);
    if (!found || found.isChecked === isChecked) return;
    found.isChecked = isChecked;
    if (isChecked) {
      found.checked.resolve();
      this.#onChanged(found.machine);
    } else found.checked = Promise.withResolvers();
  }

  /** Whether this server’s own did not respond when it was asked last. */
  get isOwnAway(): boolean {
    return this.#isOwnAway;
  }

  /** Whether containers for later sessions can begin there now. */
  isReady(machine: string | undefined): boolean {
    if (machine === undefined) return true;
    const isDraining = this.store.known(machine)?.draining ?? false;
    return !isDraining && (this.#machines.get(machine)?.isChecked ?? false);
  }

  /**
   * The host for a new container: on a machine, not before no other container can use the same files. Throws
   * `unavailable`.
   */
  async ready(machine: string | undefined): Promise<ContainerHost> {
    if (machine === undefined) return this.own.host;
    const found = this.#machines.get(machine);
    if (!found) throw new AppError('unavailable', 'The machine was removed.');
    await inTime(found.checked.promise, checkTimeoutMs, () => {
      throw new AppError(
        'unavailable',
        `${found.host.name} does not report its containers: is Docker running there?`,
      );
    });
    return found.host;
  }
}
