import type { Contract, machineServerCalls } from '@belay/protocol';
import type { RpcConnection } from '@belay/rpc';

/** What the user of this machine is told. */
export interface AgentNews {
  /** The agent of this session runs now. */
  started(session: string): void;
  /** The agent of this session ended by itself. */
  ended(session: string, reason: string): void;
}

/** The agents of this machine for one server, and what the server may call here: `S`. */
export interface ServedAgents<S extends Contract> {
  readonly contract: S;
  readonly sandboxes: string[];
  readonly sessions: string[];
  serve(connection: RpcConnection<S, typeof machineServerCalls>): void;
  /** Ends an agent; resolves when it has ended. Does nothing if it is gone. */
  stop(sandbox: string): Promise<void>;
  /** Ends all agents. */
  close(): Promise<void>;
}
