import type { AgentConnection } from './agent-link.js';

/** The session of the calling agent; throws while it has none. */
export type SessionOf = () => Promise<string>;

/** What a connection needs to know of its sandbox. */
export interface ConnectedSandbox {
  readonly id: string;
  /** The joined machine that its agent runs on; undefined for a container. */
  readonly machine: string | undefined;
  readonly session: string | null;
  readonly epoch: number;
  /** Whether the agent has already received its session, from this server or an earlier one. */
  readonly hasBegun: boolean;
  /** The connection of the agent that said hello. */
  readonly connection: AgentConnection | undefined;
  connect(connection: AgentConnection): void;
  /** The agent said hello and can be called by the server. */
  greet(): void;
  /** Allows others to call the agent: it has its session. */
  publish(): void;
  /** Rejects with the cause if the sandbox ends meanwhile. */
  alive<T>(work: Promise<T>): Promise<T>;
  /** The agent has connected, for the first time or again. */
  connected(): void;
  /** The connection was lost, which may be the first sign of the sandbox’s end. */
  disconnected(): void;
}
