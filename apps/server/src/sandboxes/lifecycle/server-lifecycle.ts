import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { lease } from '../../storage/lease.js';
import type { BeforeLead, OnWork } from '../../storage/on-lead.js';
import { SandboxConnections } from '../connection/sandbox-connections.js';
import { Machines } from '../machines/machines.js';
import { DeathWatch } from './death-watch.js';
import { Reconciler } from './reconciler.js';
import type { Sandbox } from './sandbox.js';
import { Sandboxes } from './sandboxes.js';
import { WarmPool } from './warm-pool.js';

/** Sandboxes at the server’s start and shutdown; agents keep working in between. */
@Injectable()
export class ServerLifecycle implements OnWork, BeforeLead, BeforeApplicationShutdown {
  readonly #logger = new Logger(ServerLifecycle.name);

  constructor(
    private readonly reconciler: Reconciler,
    private readonly deaths: DeathWatch,
    private readonly pool: WarmPool,
    private readonly connections: SandboxConnections,
    private readonly machines: Machines,
    private readonly sandboxes: Sandboxes,
  ) {}

  /** One that leads from its start has begun with `beforeLead`. */
  async onWork(): Promise<void> {
    if (lease.isHeld) return;
    await this.reconciler.start(this.deaths);
    this.pool.refill();
  }

  async beforeLead(): Promise<void> {
    await this.reconciler.lead(this.deaths);
    this.machines.open({ ended: (sandbox, reason) => void this.deaths.died(sandbox, reason) });
    const watch = (sandbox: Sandbox): void => {
      if (sandbox.machine !== undefined) void this.deaths.watchLease(sandbox);
    };
    for (const sandbox of this.sandboxes.all()) watch(sandbox);
    // Of sessions that are taken over later.
    this.sandboxes.on('awaited', watch);
    this.pool.refill();
  }

  /** Sandboxes without a session are ended. */
  async beforeApplicationShutdown(): Promise<void> {
    this.deaths.close();
    await this.reconciler.close();
    // First the pool: a sandbox that is being added to it still waits for its agent’s hello.
    await this.pool.close().catch((error: unknown) => this.#logger.warn(error));
    this.connections.close();
  }
}
