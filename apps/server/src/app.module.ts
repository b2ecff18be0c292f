import { Module } from '@nestjs/common';
import { AgentsModule } from './agents/agents.module.js';
import { AccessModule } from './access/access.module.js';
import { ApprovalsModule } from './approvals/approvals.module.js';
import { ActionsModule } from './actions/actions.module.js';
import { ApiModule } from './api/api.module.js';
import { AutomationsModule } from './automations/automations.module.js';
import { EgressModule } from './egress/egress.module.js';
import { EvaluationsModule } from './evaluations/evaluations.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { ModelsModule } from './models/models.module.js';
import { Lead } from './peers/lead.js';
import { PeersModule } from './peers/peers.module.js';
import { SandboxesModule } from './sandboxes/sandboxes.module.js';
import { LogsModule } from './logs/logs.module.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { StorageModule } from './storage/storage.module.js';
import { TelemetryModule } from './telemetry/telemetry.module.js';

@Module({
  imports: [
    StorageModule,
    AccessModule,
    LogsModule,
    PeersModule,
    ModelsModule,
    McpModule,
    AgentsModule,
    ActionsModule,
    ApprovalsModule,
    EgressModule,
    SandboxesModule,
    SessionsModule,
    EvaluationsModule,
    AutomationsModule,
    ApiModule,
    TelemetryModule,
  ],
  providers: [Lead],
})
export class AppModule {}
