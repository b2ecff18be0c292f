import type { Event, OperationOutput, ServerService, SessionSettings } from '@belay/protocol';
import type { AgentServices } from '../agent-services.js';
import type { SessionWriter } from '../event-writer.js';
import type { ReadableLog } from '../loop/loop-options.js';
import type { OperationRunner } from '../operation-runner.js';
import type { ServerConnection } from '../server-connection.js';

/** What works on a session: Belay’s own loop, a program that speaks ACP, or one in a terminal. */
export interface AgentDriver {
  /**
   * Works until `signal` aborts, across any number of ends and restarts of the session; then resolves once nothing of
   * it runs. Rejects with what makes further work impossible.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Called with new events of others, which the log contains already, in order. */
  handle(events: readonly Event[]): void;
  /** The next prompt of the model; throws `unavailable` where only the agent’s program knows it. */
  prompt(): Promise<OperationOutput<'session.prompt'>>;
  /** Called after a user’s call that may have changed the trusted guidance of these paths. */
  guidanceChanged(paths: readonly string[]): Promise<void>;
}

/** The session that a driver works on. */
export interface DriverOptions {
  connection: ServerConnection;
  log: ReadableLog;
  writer: SessionWriter;
  services: Promise<AgentServices>;
  runner: OperationRunner;
  settings: SessionSettings;
  /** The services that the server is configured with. */
  serverServices: readonly ServerService[];
  /** The address of the browser’s current page. */
  page(): string | null;
  /** False if one of these queued messages was changed after the event `through`. */
  deliver(messages: readonly number[], through: number): Promise<boolean>;
  /** Resolves when all changes so far are in the history. */
  recorded(): Promise<void>;
}
