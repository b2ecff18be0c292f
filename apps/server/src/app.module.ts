import { Module } from '@nestjs/common';
import { ApprovalsModule } from './approvals/approvals.module.js';
import { DoorsModule } from './doors/doors.module.js';
import { EgressModule } from './egress/egress.module.js';
import { EvaluationsModule } from './evaluations/evaluations.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { ModelsModule } from './models/models.module.js';
import { SandboxesModule } from './sandboxes/sandboxes.module.js';
import { LogsModule } from './logs/logs.module.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { StorageModule } from './storage/storage.module.js';

@Module({
  imports: [
    StorageModule,
    LogsModule,
    ModelsModule,
    McpModule,
    ApprovalsModule,
    EgressModule,
    SandboxesModule,
    SessionsModule,
    EvaluationsModule,
    DoorsModule,
  ],
})
export class AppModule {}
