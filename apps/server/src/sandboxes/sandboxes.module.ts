import { Module } from '@nestjs/common';
import { ActionsModule } from '../actions/actions.module.js';
import { AgentsModule } from '../agents/agents.module.js';
import { ContainersModule } from '../containers/containers.module.js';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { EgressModule } from '../egress/egress.module.js';
import { McpModule } from '../mcp/mcp.module.js';
import { ModelsModule } from '../models/models.module.js';
import { AgentCalls } from './connection/agent-calls.js';
import { AgentListener } from './connection/agent-listener.js';
import { ConnectionLog } from './connection/connection-log.js';
import { SandboxConnections } from './connection/sandbox-connections.js';
import { ApprovedServices } from './connection/approved-services.js';
import { ModelCalls } from './connection/model-calls.js';
import { RestoredCopies } from './connection/restored-copies.js';
import { StorageCalls } from './connection/storage-calls.js';
import { HostFolders } from './host-folders.js';
import { AbsenceWatch } from './lifecycle/absence-watch.js';
import { CheckRunner } from './lifecycle/check-runner.js';
import { DeathWatch } from './lifecycle/death-watch.js';
import { Reconciler } from './lifecycle/reconciler.js';
import { SandboxContainers } from './lifecycle/sandbox-containers.js';
import { SandboxFiles } from './lifecycle/sandbox-files.js';
import { SandboxOwners } from './lifecycle/sandbox-owners.js';
import { SandboxRecords } from './lifecycle/sandbox-records.store.js';
import { Sandboxes } from './lifecycle/sandboxes.js';
import { ServerLifecycle } from './lifecycle/server-lifecycle.js';
import { WarmPool } from './lifecycle/warm-pool.js';
import { MachineAgents } from './machines/machine-agents.js';
import { MachineHosts } from './machines/machine-hosts.js';
import { MachineStore } from './machines/machine.store.js';
import { TaskRelays } from './machines/task-relays.js';
import { Machines } from './machines/machines.js';
import { Places } from './places/places.js';
import { SandboxService } from './sandbox.service.js';

@Module({
  imports: [
    ActionsModule,
    AgentsModule,
    ApprovalsModule,
    ContainersModule,
    EgressModule,
    McpModule,
    ModelsModule,
  ],
  providers: [
    AbsenceWatch,
    AgentCalls,
    AgentListener,
    CheckRunner,
    ConnectionLog,
    DeathWatch,
    HostFolders,
    MachineAgents,
    MachineHosts,
    MachineStore,
    Machines,
    Reconciler,
    RestoredCopies,
    SandboxConnections,
    SandboxContainers,
    SandboxFiles,
    SandboxOwners,
    SandboxRecords,
    SandboxService,
    Sandboxes,
    ServerLifecycle,
    ApprovedServices,
    ModelCalls,
    Places,
    StorageCalls,
    TaskRelays,
    WarmPool,
  ],
  exports: [
    AgentListener,
    CheckRunner,
    HostFolders,
    Machines,
    Places,
    Reconciler,
    SandboxService,
    TaskRelays,
  ],
})
export class SandboxesModule {}
