import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { EgressModule } from '../egress/egress.module.js';
import { McpModule } from '../mcp/mcp.module.js';
import { ModelsModule } from '../models/models.module.js';
import { AgentCalls } from './agent-calls.js';
import { SandboxChecks } from './checks.js';
import { ContainerLauncher } from './container-launcher.js';
import { DockerClient } from './docker.client.js';
import { Reconciler } from './reconciler.js';
import { RopeListener } from './rope-listener.js';
import { SandboxRecords } from './sandbox-records.store.js';
import { SandboxRegistry } from './sandbox-registry.js';
import { SandboxService } from './sandbox.service.js';
import { Sidecars } from './sidecar.js';
import { Starter } from './starter.js';
import { WarmPool } from './warm-pool.js';

@Module({
  imports: [ApprovalsModule, EgressModule, McpModule, ModelsModule],
  providers: [
    AgentCalls,
    ContainerLauncher,
    DockerClient,
    Reconciler,
    RopeListener,
    SandboxChecks,
    SandboxRecords,
    SandboxRegistry,
    SandboxService,
    Sidecars,
    Starter,
    WarmPool,
  ],
  exports: [SandboxService],
})
export class SandboxesModule {}
