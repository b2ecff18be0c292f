import type { machineCalls } from '@belay/protocol';
import type { z } from 'zod';

/** What the server asks for. */
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
  /** Resolves when it was started, to connect by itself; fine when it runs. Never two agents on the same files. */
  start(wanted: WantedAgent): Promise<void>;
  /** Ends it and resolves when it is gone; fine when it is. */
  stop(sandbox: string): Promise<void>;
  /** Removes the files of a session; an agent that works on them is ended. */
  removeFiles(names: readonly string[]): Promise<void>;
  /** Ends all. */
  close(): Promise<void>;
}
