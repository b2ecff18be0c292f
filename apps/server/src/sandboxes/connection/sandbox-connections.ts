import { Injectable } from '@nestjs/common';
import type { AppError } from '@belay/protocol';
import { ContainerDials } from '../../containers/container-dials.js';
import { AgentCalls } from './agent-calls.js';
import { AgentListener, type Listener } from './agent-listener.js';
import type { ConnectedSandbox } from './connected-sandbox.js';

/** What must be known of a sandbox to admit its agent. */
interface ListeningSandbox extends ConnectedSandbox {
  /** The hash of the token of an agent on a bare machine; those in containers are identified by their host. */
  readonly token?: string | undefined;
  admits(agent: string): boolean;
}

/** The endpoints for agents of sandboxes, and the handlers of their calls. */
@Injectable()
export class SandboxConnections {
  constructor(
    private readonly listener: AgentListener,
    private readonly calls: AgentCalls,
    private readonly dials: ContainerDials,
  ) {}

  /** Admits the agent of a sandbox, and no other program; `isFar` when its connection comes over a network. */
  listen(sandbox: ListeningSandbox, { isFar = true } = {}): void {
    const { id, token } = sandbox;
    const agent: Listener = {
      admits: (program) => sandbox.admits(program),
      onConnection: (connection) => this.calls.serve(connection, sandbox),
      onBroken: (reason) => this.calls.reportBreach(sandbox, reason),
    };
    if (token !== undefined) return this.listener.openAgent(id, token, agent);
    this.listener.open(id, agent, { isFar });
    this.dials.admit(id, (dial) => this.listener.dialled(id, dial));
  }

  /** Stops admitting connections; pending calls fail with `reason`. */
  remove(sandbox: string, reason: AppError): void {
    this.dials.remove(sandbox);
    this.listener.remove(sandbox, reason);
  }

  /** Ends all connections; agents keep trying to reconnect. */
  close(): void {
    this.listener.hangUpAll();
  }
}
