import { Injectable } from '@nestjs/common';
import type { AgentEntry } from './agent-entry.js';
import { agentLocks, type AgentLock } from './agent-lock.js';
import { agentTable } from './agent-table.js';

/** The agents that can be installed, with what to install. */
@Injectable()
export class InstallableAgents {
  readonly #known: ReadonlyMap<string, { entry: AgentEntry; lock: AgentLock }>;

  constructor() {
    this.#known = new Map(
      [...agentTable].flatMap(([name, entry]) => {
        const lock = agentLocks.get(name);
        return lock ? [[name, { entry, lock }] as const] : [];
      }),
    );
  }

  get all(): readonly { entry: AgentEntry; lock: AgentLock }[] {
    return [...this.#known.values()];
  }

  known(name: string): { entry: AgentEntry; lock: AgentLock } | undefined {
    return this.#known.get(name);
  }
}
