import { availableParallelism, totalmem } from 'node:os';
import { Injectable } from '@nestjs/common';
import {
  loadText,
  placeLabel,
  type Check,
  type OwnSandboxes,
  type PlaceCapacity,
  type SessionMachine,
} from '@belay/protocol';
import { sees, type Caller } from '../../access/caller.js';
import { Config } from '../../config.js';
import { MachineHosts } from '../machines/machine-hosts.js';
import { Machines } from '../machines/machines.js';
import type { StoredMachine } from '../machines/machine.store.js';
import type { SandboxPlace } from './choose-place.js';

/** The places of sandboxes: the server’s own, and the joined machines. */
@Injectable()
export class Places {
  constructor(
    private readonly config: Config,
    private readonly machines: Machines,
    private readonly hosts: MachineHosts,
  ) {}

  /** The server first, then the machines by name. `running` returns the load of a place by its id. */
  all(running: (place: string | null) => number): SandboxPlace[] {
    const own = {
      id: null,
      name: 'this server',
      machine: null,
      labels: { [placeLabel]: 'server' },
      closed: null,
      draining: false,
      isAway: this.hosts.isOwnAway,
      limit: this.limitOf(null),
      running: running(null),
    };
    const joined = this.machines.all().toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return [own, ...joined.map((machine) => this.#placeOf(machine, running(machine.id)))];
  }

  /** The most sandboxes at a time. A bare machine, and one that was not connected yet, has the server’s limit. */
  limitOf(place: string | null): number {
    const known = place === null ? undefined : this.machines.capacityOf(place);
    return known?.sandboxes ?? this.config.maxSandboxes;
  }

  /** See `Machines.ofSession`. */
  idOf(machine: SessionMachine): string {
    return this.machines.ofSession(machine);
  }

  /** The load of the server’s own sandboxes, with the sessions that the caller sees. */
  own(caller: Caller): OwnSandboxes {
    const sessions = this.machines.sessionsOn(null);
    return {
      running: sessions.length,
      capacity: this.#ownCapacity(),
      sessions: sessions.filter((session) => sees(caller, session)),
    };
  }

  /** The load of each place, once machines have joined. */
  checks(): Check[] {
    const joined = this.machines.all();
    if (joined.length === 0) return [];
    const own = loadText(this.machines.sessionsOn(null).length, this.#ownCapacity());
    const loads = [
      `this server has ${own}`,
      ...joined.map(({ id, name, draining }) => {
        const running = this.machines.sessionsOn(id).length;
        const load = loadText(running, this.machines.capacityOf(id) ?? null);
        const away = this.machines.isConnected(id) ? '' : ', and is not connected';
        return `${name} has ${load}${away}${draining ? ', and takes no sessions' : ''}`;
      }),
    ];
    return [{ name: 'Places', ok: true, detail: loads.join('; '), remedy: null }];
  }

  /** What a cluster has for pods is not known, and that of the server’s own node says nothing about it. */
  #ownCapacity(): PlaceCapacity {
    const { maxSandboxes: sandboxes, kubernetes } = this.config;
    if (kubernetes) return { sandboxes, memoryMb: null, cpus: null };
    const memoryMb = Math.floor(totalmem() / 2 ** 20);
    return { sandboxes, memoryMb, cpus: availableParallelism() };
  }

  #placeOf({ id, name, kind, labels, draining }: StoredMachine, running: number): SandboxPlace {
    return {
      id,
      name,
      machine: { name, kind, auto: true },
      labels: { ...labels, [placeLabel]: 'machine' },
      closed: this.#closed(id, draining),
      draining,
      isAway: false,
      limit: this.limitOf(id),
      running,
    };
  }

  #closed(id: string, draining: boolean): string | null {
    if (draining) return 'is being drained';
    if (!this.machines.isConnected(id)) return 'is not connected';
    return this.machines.capacityOf(id) ? null : 'does not say how many sandboxes it can have';
  }
}
