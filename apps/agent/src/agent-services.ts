import type { Readable } from 'node:stream';
import type {
  EventArgs,
  Handlers,
  LoopOperation,
  operations,
  RunOperation,
  SessionSettings,
} from '@belay/protocol';
import type { CallContext } from './call-context.js';
import type { ServerConnection } from './server-connection.js';
import type { HistoryCopies } from './history/history-copies.js';
import type { Gateway, GatewayOptions } from './gateway/gateway.js';
import type { Plan } from './plan/plan.js';
import type { Guidance } from './guidance/guidance.js';
import type { Terminals } from './terminal/terminals.js';
import type { SessionWriter } from './event-writer.js';

/** A function for each operation that the agent serves; the loop handles its own. */
export type OperationHandlers = Omit<
  Handlers<typeof operations, CallContext>,
  LoopOperation | RunOperation
>;

/** Everything that the agent can do in its sandbox, once it has a session. */
export interface AgentServices {
  handlers: OperationHandlers;
  terminals: Pick<Terminals, 'keys' | 'resize' | 'hold' | 'running' | 'runProgram'> & {
    open(name: string): Promise<unknown>;
  };
  history: {
    begin(): Promise<void>;
    /** Never rejects: a history that fails is reported in the log. */
    commit(call: { id: string; message: string; paths?: readonly string[] }): Promise<void>;
    /** A user’s call’s changes, for the model; null if there are none. */
    changesOf(call: string): Promise<Pick<EventArgs<'result'>, 'note' | 'changes'> | null>;
    export(
      format: 'patch' | 'zip' | 'bundle' | 'tar',
      span?: { commit?: string | undefined; from?: string | undefined },
    ): Promise<Readable>;
    copies: Pick<HistoryCopies, 'flush' | 'close'>;
  };
  plan: Pick<Plan, 'begin' | 'check'>;
  guidance: Guidance;
  /** Extracts a skill’s files so that its programs can run; returns the folder, or null if there is none. */
  placeSkill(name: string, archive: Uint8Array): Promise<string | null>;
  /** What programs that are started outside of terminals begin with: their folder and their variables. */
  environment(): { workspace: string; env: Record<string, string> };
  /** The description of the sandbox for the model. */
  describe(): Promise<string>;
  /** Sets whether anyone watches the browser. */
  watch(on: boolean): void;
  /** The address of the browser’s current page. */
  page(): string | null;
  /** Connections of the sandbox that were refused since the last call, for the model; never rejects. */
  refusals(): Promise<string | undefined>;
  /**
   * Opens the session’s model to programs that have the token, a new one if omitted; `inTerminals`: shells get it.
   * Rejects on a bare machine, and if another program listens on its port.
   */
  openGateway(
    options: Pick<GatewayOptions, 'token' | 'beforeReply'> & { inTerminals: boolean },
  ): Promise<Gateway>;
  close(): Promise<void>;
}

export type CreateServices = (session: {
  writer: SessionWriter;
  connection: ServerConnection;
  settings: SessionSettings;
}) => Promise<AgentServices>;
