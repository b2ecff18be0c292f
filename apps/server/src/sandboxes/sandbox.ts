import type { AppError } from '@belay/protocol';
import { agentLink, type AgentLink, type AgentRope } from './agent-link.js';

/** Names of the volumes that a sandbox's files are in. */
export interface SandboxVolumes {
  workspace: string;
  state: string;
}

/** Where an agent runs, from the making of its container to its end. */
export class Sandbox {
  /** The container's id, once there is one. */
  container = '';
  rope: AgentRope | undefined;
  session: string | null = null;
  epoch = 0;
  /** Set when the server itself ends it: its death is no news then. */
  ending = false;
  /** Found at the server's start: an agent that has not begun is given its session when it says hello. */
  adopted = false;
  /** Hears that the agent's connection broke: it may be the first sign of its end. */
  onBreak: () => void = () => {};
  #link: AgentLink | undefined;
  readonly #greeted = Promise.withResolvers<void>();
  readonly #over = Promise.withResolvers<never>();

  constructor(
    readonly id: string,
    readonly volumes: SandboxVolumes,
  ) {
    this.#over.promise.catch(() => {});
  }

  /** The agent said hello and can be called. */
  greet(): void {
    this.#greeted.resolve();
  }

  assign(session: string, epoch: number): void {
    this.session = session;
    this.epoch = epoch;
  }

  /** From now on others may call the agent: it has its session. */
  publish(): void {
    if (this.rope && this.session !== null) {
      this.#link = agentLink(this.rope, this.session, this.epoch);
    }
  }

  get link(): AgentLink | undefined {
    return this.#link;
  }

  /** The container or its agent is gone: what waits for it fails with this. */
  end(error: AppError): void {
    this.#link = undefined;
    this.#over.reject(error);
  }

  /** Rejects with the cause when the sandbox ends meanwhile. */
  alive<T>(work: Promise<T>): Promise<T> {
    return Promise.race([this.#over.promise, work]);
  }

  greeted(): Promise<void> {
    return this.alive(this.#greeted.promise);
  }
}
