import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { ColdChanges } from '../storage/cold-changes.js';
import { lease } from '../storage/lease.js';
import type { BeforeLead, OnLead, OnWork } from '../storage/on-lead.js';

/** The work of each server for its own sessions, and of the one that leads: the only one, or one of several of a database. */
@Injectable()
export class Lead implements OnApplicationBootstrap {
  #beforeWork: () => Promise<void> = () => Promise.resolve();
  #stoodBy = false;
  #works: Promise<void> | undefined;
  #begun: Promise<void> | undefined;

  constructor(
    private readonly modules: ModulesContainer,
    private readonly changes: ColdChanges,
  ) {}

  /** From now on, nothing of this server’s work begins before this has resolved. */
  beforeWork(before: () => Promise<void>): void {
    this.#beforeWork = before;
  }

  /** A server that does not lead yet works for the sessions that it is given. */
  async onApplicationBootstrap(): Promise<void> {
    await this.#beforeWork();
    if (lease.isHeld) return this.begin();
    this.#stoodBy = true;
    await this.#work();
  }

  /**
   * Calls every `beforeLead`, every `onWork` that was not called before, and then every `onLead` once, in the order of
   * Nest’s own hooks. Rejects if one does: then this server cannot lead.
   */
  begin(): Promise<void> {
    return (this.#begun ??= this.#begin());
  }

  async #begin(): Promise<void> {
    // The last changes of the server before may not have been told yet.
    if (this.#stoodBy) await this.changes.readAll();
    await this.#works;
    for (const instance of this.#instances()) await instance?.beforeLead?.(this.#stoodBy);
    await this.#work();
    for (const instance of this.#instances()) await instance?.onLead?.();
  }

  #work(): Promise<void> {
    const work = async (): Promise<void> => {
      for (const instance of this.#instances()) await instance?.onWork?.();
    };
    return (this.#works ??= work());
  }

  /** All providers of all modules: those of imported ones first. */
  #instances(): Set<Hooks | null> {
    const modules = [...this.modules.values()].toSorted((a, b) => b.distance - a.distance);
    const providers = modules.flatMap((module) => module.getNonAliasProviders());
    return new Set(providers.map(([, { instance }]) => instance as Hooks | null));
  }
}

type Hooks = Partial<OnWork & BeforeLead & OnLead>;
