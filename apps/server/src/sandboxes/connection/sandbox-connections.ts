import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { AgentCalls } from './agent-calls.js';
import { AgentListener, type Listener } from './agent-listener.js';
import type { ConnectedSandbox } from './connected-sandbox.js';

/** What must be known of a sandbox to admit its agent. */
interface ListeningSandbox extends ConnectedSandbox {
  /** The hash of the token of an agent on another machine; agents in containers have a socket instead. */
  readonly token?: string | undefined;
  admits(agent: string): boolean;
}

/** The endpoints for agents of sandboxes, and the handlers of their calls. */
@Injectable()
export class SandboxConnections {
  constructor(
    private readonly listener: AgentListener,
    private readonly calls: AgentCalls,
  ) {}

  /** Admits the agent of a sandbox, and no other program. */
  async listen(sandbox: ListeningSandbox): Promise<void> {
    const { id, machine, token } = sandbox;
    const agent: Listener = {
      admits: (program) => sandbox.admits(program),
      onConnection: (connection) => this.calls.serve(connection, sandbox),
      onBroken: (reason) => this.calls.reportBreach(sandbox, reason),
    };
    if (machine === undefined) await this.listener.open(id, agent);
    else if (token !== undefined) this.listener.openAgent(id, token, agent);
    else throw new AppError('internal', 'An agent on a machine connects with a token.');
  }

  /** The folder that is mounted into the container. */
  folder(sandbox: string): string {
    return this.listener.folder(sandbox);
  }

  putFile(sandbox: string, name: string, content: string): Promise<void> {
    return this.listener.putFile(sandbox, name, content);
  }

  /** Stops admitting connections; pending calls fail with `reason`. */
  remove(sandbox: string, reason: AppError): Promise<void> {
    return this.listener.remove(sandbox, reason);
  }
}
