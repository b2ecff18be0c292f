import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { hashOfSecret, randomSecret } from '../../storage/secrets.js';
import { AgentListener } from '../connection/agent-listener.js';
import { SandboxConnections } from '../connection/sandbox-connections.js';
import type { Sandbox } from '../lifecycle/sandbox.js';
import { Machines, type WantedContainer } from './machines.js';

/** The agents of sessions on joined machines, in the place of containers. */
@Injectable()
export class MachineAgents {
  constructor(
    private readonly machines: Machines,
    private readonly listener: AgentListener,
    private readonly connections: SandboxConnections,
  ) {}

  /** Has the machine start the agent; its hello follows. */
  async launch(sandbox: Sandbox, container: WantedContainer): Promise<void> {
    const token = `agent-${randomSecret()}`;
    sandbox.token = hashOfSecret(token, 'hex');
    await this.connections.listen(sandbox);
    await sandbox.alive(this.machines.startAgent(sandbox, token, container));
  }

  /** Its connection opens nothing more; the machine ends it, now or when it is back. */
  async dispose(sandbox: Sandbox, { volumes, reason }: { volumes: boolean; reason: AppError }) {
    sandbox.end(reason);
    await this.listener.remove(sandbox.id, reason);
    await this.machines.stopAgent(sandbox);
    const { machine } = sandbox;
    if (volumes && machine !== undefined)
      await this.machines.removeFiles(machine, [sandbox.volumes.workspace, sandbox.volumes.state]);
  }

  async removeFiles(machine: string, folders: string[]): Promise<void> {
    await this.machines.removeFiles(machine, folders);
  }
}
