import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { ColdChanges } from '../storage/cold-changes.js';
import { lease } from '../storage/lease.js';
import type { BeforeLead, OnLead } from '../storage/on-lead.js';

/** The work of the server that leads: the only one, or one of several of a database. */
@Injectable()
export class Lead implements OnApplicationBootstrap {
  #stoodBy = false;
  #begun: Promise<void> | undefined;

  constructor(
    private readonly modules: ModulesContainer,
    private readonly changes: ColdChanges,
  ) {}

  /** A server that stands by begins later. */
  async onApplicationBootstrap(): Promise<void> {
    if (lease.isHeld) await this.begin();
    else this.#stoodBy = true;
  }

  /**
   * Calls every `beforeLead` and then every `onLead` once, in the order of Nest’s own hooks. Rejects if one does: then
   * this server cannot lead.
   */
  begin(): Promise<void> {
    return (this.#begun ??= this.#begin());
  }

  async #begin(): Promise<void> {
    // The last changes of the server before may not have been told yet.
    if (this.#stoodBy) await this.changes.readAll();
    const modules = [...this.modules.values()].toSorted((a, b) => b.distance - a.distance);
    const providers = modules.flatMap((module) => module.getNonAliasProviders());
    const instances = new Set(providers.map(([, { instance }]) => instance as Hooks | null));
    for (const instance of instances) await instance?.beforeLead?.();
    for (const instance of instances) await instance?.onLead?.();
  }
}

type Hooks = Partial<BeforeLead & OnLead>;
