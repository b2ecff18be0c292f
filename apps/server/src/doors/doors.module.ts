import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { ZodValidationPipe } from 'nestjs-zod';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { EvaluationsModule } from '../evaluations/evaluations.module.js';
import { McpModule } from '../mcp/mcp.module.js';
import { ModelsModule } from '../models/models.module.js';
import { SandboxesModule } from '../sandboxes/sandboxes.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { SettingsModule } from '../settings/settings.module.js';
import { AccessGuard } from './access.guard.js';
import { AddressCheck } from './address-check.js';
import { DashboardGateway } from './dashboard.gateway.js';
import { EvaluationsController } from './evaluations.controller.js';
import { HealthController } from './health.controller.js';
import { Identity } from './identity.js';
import { McpController } from './mcp.controller.js';
import { Metrics } from './metrics.js';
import { ProblemFilter } from './problem.filter.js';
import { ServerController } from './server.controller.js';
import { SessionContentsController } from './session-contents.controller.js';
import { SessionsController } from './sessions.controller.js';
import { SettingsController } from './settings.controller.js';

@Module({
  imports: [
    SessionsModule,
    ApprovalsModule,
    EvaluationsModule,
    McpModule,
    ModelsModule,
    SandboxesModule,
    SettingsModule,
  ],
  controllers: [
    SessionsController,
    SessionContentsController,
    EvaluationsController,
    McpController,
    ServerController,
    SettingsController,
    HealthController,
  ],
  providers: [
    AddressCheck,
    DashboardGateway,
    Identity,
    Metrics,
    { provide: APP_GUARD, useClass: AccessGuard },
    { provide: APP_PIPE, useClass: ZodValidationPipe },
    { provide: APP_FILTER, useClass: ProblemFilter },
  ],
})
export class DoorsModule {}
