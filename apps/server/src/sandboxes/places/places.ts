import { availableParallelism, totalmem } from 'node:os';
import { Injectable } from '@nestjs/common';
import { runsTasks } from '@belay/containers';
import {
  installedTexts,
  loadText,
  placeLabel,
  type Check,
  type OwnSandboxes,
  type PlaceCapacity,
  type SessionMachine,
} from '@belay/protocol';
import { inTime } from '@belay/rpc';
import { sees, type Caller } from '../../access/caller.js';
import { AgentStore } from '../../agents/agent.store.js';
import { Config } from '../../config.js';
import { MachineHosts } from '../machines/machine-hosts.js';
import { Machines } from '../machines/machines.js';
import type { StoredMachine } from '../machines/machine.store.js';
import { freePlaces, type Needs, type SandboxPlace } from './free-places.js';

/** How long a place may take to say whether it has an image. */
const imageTimeoutMs = 1_000;

/** The places of sandboxes: the server’s own, and the joined machines. */
@Injectable()
export class Places {
  /** Those that have not said in time whether they have an image. */
  readonly #late = new Set<string | null>();

  constructor(
    private readonly config: Config,
    private readonly machines: Machines,
    private readonly hosts: MachineHosts,
    private readonly agents: AgentStore,
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
      // A session keeps an agent that was removed.
      agents: this.agents.names({ retired: true }),
      images: ['*'],
    };
    const joined = this.machines.all().toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return [own, ...joined.map((machine) => this.#placeOf(machine, running(machine.id)))];
  }

  /**
   * The place of such a session: of those that `freePlaces` returns, the first that has its image, which can take minutes
   * to fetch, or else the first. Undefined while all that fit are full. Throws like `freePlaces`.
   */
  async choose(places: readonly SandboxPlace[], needs: Needs): Promise<SandboxPlace | undefined> {
    const free = freePlaces(places, needs);
    const { image } = needs;
    if (image === null || image === this.config.image || free.length < 2) return free[0];
    const has = await Promise.all(free.map(({ id }) => this.#hasImage(id, image)));
    return free.find((_, at) => has[at]) ?? free[0];
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
      agents: this.agents.names({ retired: false }),
      sessions: sessions.filter((session) => sees(caller, session)),
      tasks: runsTasks(this.hosts.own.host),
    };
  }

  /** The load of each place, once machines have joined. */
  checks(): Check[] {
    const joined = this.machines.all();
    if (joined.length === 0) return [];
    const capacity = this.#ownCapacity();
    const own = [
      loadText(this.machines.sessionsOn(null).length, capacity),
      ...installedTexts({ agents: this.agents.names({ retired: false }), capacity }),
    ];
    const loads = [
      `this server has ${own.join(', ')}`,
      ...joined.map(({ id, name, draining }) => {
        const running = this.machines.sessionsOn(id).length;
        const said = this.machines.capacityOf(id) ?? null;
        const load = [loadText(running, said), ...installedTexts({ capacity: said })].join(', ');
        const away = this.machines.isConnected(id) ? '' : ', and is not connected';
        return `${name} has ${load}${away}${draining ? ', and takes no sessions' : ''}`;
      }),
    ];
    return [{ name: 'Places', ok: true, detail: loads.join('; '), remedy: null }];
  }

  /** What a cluster has for pods is not known, and that of the server’s own node says nothing about it. */
  #ownCapacity(): PlaceCapacity {
    const { maxSandboxes: sandboxes, kubernetes } = this.config;
    const own = { sandboxes, images: ['*'] };
    if (kubernetes) return { ...own, memoryMb: null, cpus: null };
    const memoryMb = Math.floor(totalmem() / 2 ** 20);
    return { ...own, memoryMb, cpus: availableParallelism() };
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
      agents: null,
      // It calls its own default image by another name.
      images: [this.config.image, ...(this.machines.capacityOf(id)?.images ?? [])],
    };
  }

  /** A place that does not say so in time counts as without the image, and is not asked again until it has answered. */
  async #hasImage(place: string | null, image: string): Promise<boolean> {
    const host = this.hosts.of(place ?? undefined);
    if (!host || this.#late.has(place)) return false;
    // A start there says what is wrong.
    const asked = host.images.has(image).catch(() => false);
    return inTime(asked, imageTimeoutMs, () => {
      this.#late.add(place);
      void asked.finally(() => this.#late.delete(place));
      return false;
    });
  }

  #closed(id: string, draining: boolean): string | null {
    if (draining) return 'is being drained';
    if (!this.machines.isConnected(id)) return 'is not connected';
    return this.machines.capacityOf(id) ? null : 'does not say how many sandboxes it can have';
  }
}
