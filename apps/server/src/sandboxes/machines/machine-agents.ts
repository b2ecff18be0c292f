import { Injectable } from '@nestjs/common';
import { AppError, type SessionMachine } from '@belay/protocol';
import { hashOfSecret, randomSecret } from '../../storage/secrets.js';
import { SandboxConnections } from '../connection/sandbox-connections.js';
import type { Sandbox } from '../lifecycle/sandbox.js';
import { Machines, type WantedContainer } from './machines.js';

/** Runs the agents of sessions on joined machines instead of in containers of this server. */
@Injectable()
export class MachineAgents {
  constructor(
    private readonly machines: Machines,
    private readonly connections: SandboxConnections,
  ) {}

  /** Makes the machine start the agent, which then says hello. */
  async launch(sandbox: Sandbox, container: WantedContainer): Promise<void> {
    const token = `agent-${randomSecret()}`;
    sandbox.token = hashOfSecret(token, 'hex');
    await this.connections.listen(sandbox);
    await sandbox.alive(this.machines.startAgent(sandbox, token, container));
  }

  /** Revokes the agent’s token; the machine ends the agent now, or when it reconnects. */
  async dispose(sandbox: Sandbox, { volumes, reason }: { volumes: boolean; reason: AppError }) {
    sandbox.end(reason);
    await this.connections.remove(sandbox.id, reason);
    await this.machines.stopAgent(sandbox);
    const { machine } = sandbox;
    if (volumes && machine !== undefined)
      await this.machines.removeFiles(machine, [sandbox.volumes.workspace, sandbox.volumes.state]);
  }

  async removeFiles(machine: string, folders: string[]): Promise<void> {
    await this.machines.removeFiles(machine, folders);
  }

  /** See `Machines.ofSession`. */
  ofSession(machine: SessionMachine): string {
    return this.machines.ofSession(machine);
  }

  /** Whether this machine has not been removed. */
  has(machine: string): boolean {
    return this.machines.known(machine) !== undefined;
  }
}
