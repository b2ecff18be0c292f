import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Config } from '../config.js';
import { Places } from '../sandboxes/places/places.js';
import type { OnWork } from '../storage/on-lead.js';
import { ownLoad } from '../storage/server-load.js';
import { SandboxSlots } from './sandbox-slots.js';

/** Tells other servers how many sandboxes this one has, and may have, as long as it takes sessions. */
@Injectable()
export class LoadReport implements OnWork, OnModuleDestroy {
  #closing = false;

  constructor(
    private readonly config: Config,
    private readonly places: Places,
    private readonly slots: SandboxSlots,
  ) {}

  onWork(): void {
    const { instance } = this.config;
    ownLoad.reportBy(() => ({
      instance,
      sandboxes: this.slots.working(null),
      capacity: this.#closing ? 0 : this.places.limitOf(null),
    }));
  }

  onModuleDestroy(): void {
    this.#closing = true;
  }
}
