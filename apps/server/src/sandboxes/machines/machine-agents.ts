import { Injectable } from '@nestjs/common';
import { AppError, type SessionMachine } from '@belay/protocol';
import { hashOfSecret, randomSecret } from '../../storage/secrets.js';
import { SandboxConnections } from '../connection/sandbox-connections.js';
import type { Sandbox } from '../lifecycle/sandbox.js';
import { foldersOf, Machines } from './machines.js';

/** Runs the agents of sessions on bare machines, without containers. */
@Injectable()
export class MachineAgents {
  constructor(
    private readonly machines: Machines,
    private readonly connections: SandboxConnections,
  ) {}

  /** Makes the machine start the agent, which then says hello. */
  async launch(sandbox: Sandbox): Promise<void> {
    const token = `agent-${randomSecret()}`;
    sandbox.token = hashOfSecret(token, 'hex');
    this.connections.listen(sandbox);
    await sandbox.alive(this.machines.startAgent(sandbox, token));
  }

  /** Revokes the agent’s token; the machine ends the agent now, or when it reconnects. */
  async dispose(sandbox: Sandbox, { files, reason }: { files: boolean; reason: AppError }) {
    sandbox.end(reason);
    this.connections.remove(sandbox.id, reason);
    await this.machines.stopAgent(sandbox);
    const { machine } = sandbox;
    if (files && machine !== undefined) await this.removeFiles(machine, sandbox.files);
  }

  async removeFiles(machine: string, files: string): Promise<void> {
    await this.machines.removeFiles(machine, Object.values(foldersOf(files)));
  }

  /** See `Machines.ofSession`. */
  ofSession(machine: SessionMachine): string {
    return this.machines.ofSession(machine);
  }
}
