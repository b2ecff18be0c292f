import type { machineCalls } from '@belay/protocol';
import type { z } from 'zod';

/** The server’s request for an agent. */
export type WantedAgent = z.output<(typeof machineCalls)['agents.start']['input']>;

export interface EndedAgent {
  sandbox: string;
  session: string;
}

/** Called once for each agent that ended without `stop`. */
export type OnEnded = (agent: EndedAgent, reason: string) => void;

/** The agents that run on this machine for one server, one for each session. */
export interface Agents {
  readonly sandboxes: string[];
  readonly sessions: string[];
  /**
   * Resolves when the agent was started; it connects by itself. Does nothing if it is running. Two agents never use
   * the same files.
   */
  start(wanted: WantedAgent): Promise<void>;
  /** Ends an agent; resolves when it has ended. Does nothing if it is gone. */
  stop(sandbox: string): Promise<void>;
  /** Removes a session’s files; an agent that uses them is ended. */
  removeFiles(names: readonly string[]): Promise<void>;
  /** Ends all agents. */
  close(): Promise<void>;
}
