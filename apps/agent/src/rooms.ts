import type { Readable } from 'node:stream';
import type { AgentRope } from './agent-rope.js';
import type { Rooms } from './dispatch.js';
import type { Guidance } from './guidance/guidance.js';
import type { Journal } from './journal.js';

/** Everything that the agent can do in its sandbox, once it has a session. */
export interface AgentRooms {
  handlers: Rooms;
  terminals: {
    keys(terminal: string, data: string): void;
    resize(terminal: string, columns: number, rows: number): void;
    hold(terminal: string, holder: 'agent' | 'user'): void;
    open(terminal: string): Promise<void>;
    running(): { terminal: string; command: string }[];
  };
  history: {
    begin(): Promise<void>;
    /** Never rejects: a history that fails says so in the log. */
    commit(call: { id: string; message: string; paths?: readonly string[] }): Promise<void>;
    export(format: 'patch' | 'zip' | 'bundle' | 'tar', commit?: string): Promise<Readable>;
  };
  guidance: Guidance;
  /** What the model is told of the sandbox. */
  describe(): Promise<string>;
  /** Whether anybody watches the browser. */
  watch(on: boolean): void;
  /** The address that the browser shows. */
  page(): string | null;
  close(): Promise<void>;
}

export type MakeRooms = (session: { journal: Journal; rope: AgentRope }) => Promise<AgentRooms>;
