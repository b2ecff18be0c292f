import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { ActionsModule } from '../actions/actions.module.js';
import { AgentsModule } from '../agents/agents.module.js';
import { AutomationsModule } from '../automations/automations.module.js';
import { ContainersModule } from '../containers/containers.module.js';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { EvaluationsModule } from '../evaluations/evaluations.module.js';
import { McpModule } from '../mcp/mcp.module.js';
import { ModelsModule } from '../models/models.module.js';
import { SandboxesModule } from '../sandboxes/sandboxes.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { SettingsModule } from '../settings/settings.module.js';
import { AccessGuard } from './auth/access.guard.js';
import { AcpApi } from './acp/acp-api.js';
import { AcpConfig } from './acp/acp-config.js';
import { AcpContent } from './acp/acp-content.js';
import { AcpLive } from './acp/acp-live.js';
import { AcpServices } from './acp/acp-services.js';
import { AddressCheck } from './auth/address-check.js';
import { NamedCalls } from './commands/named-calls.js';
import { LifecycleCommands } from './commands/lifecycle-commands.js';
import { CommandsElsewhere } from './commands/commands-elsewhere.js';
import { OwnCommands } from './commands/own-commands.js';
import { SessionCommands } from './commands/session-commands.js';
import { ServerChecks } from './rest/server-checks.js';
import { DashboardGateway } from './dashboard/dashboard.gateway.js';
import { ActionCallsController } from './rest/action-calls.controller.js';
import { ActionsController } from './rest/actions.controller.js';
import { AgentsController } from './rest/agents.controller.js';
import { AuditController } from './rest/audit.controller.js';
import { AutomationsController } from './rest/automations.controller.js';
import { Conversations } from './gpt/conversations.js';
import { GptCalls } from './gpt/gpt-calls.js';
import { GptRuns } from './gpt/gpt-runs.js';
import { GptController } from './gpt/gpt.controller.js';
import { GptDocumentsController } from './gpt/gpt-documents.controller.js';
import { GptSessions } from './gpt/gpt-sessions.js';
import { PreviewAddress } from './preview/preview-address.js';
import { PreviewGrants } from './preview/preview-grants.js';
import { PreviewServer } from './preview/preview-server.js';
import { PreviewStreams } from './preview/preview-streams.js';
import { SessionPreviewController } from './preview/session-preview.controller.js';
import { SessionRelay } from './passing-on/session-relay.js';
import { PublicUrl } from './public-url.js';
import { ComparisonsController } from './rest/comparisons.controller.js';
import { EvaluationsController } from './rest/evaluations.controller.js';
import { Identity } from './auth/identity.js';
import { OwnTokens } from './auth/own-tokens.js';
import { Logins } from './auth/logins.js';
import { PasswordCheck } from './auth/password-check.js';
import { HooksController } from './rest/hooks.controller.js';
import { GitController } from './rest/git.controller.js';
import { SessionPublishController } from './rest/session-publish.controller.js';
import { GitModule } from '../git/git.module.js';
import { ProofModule } from '../proof/proof.module.js';
import { PublishingModule } from '../publishing/publishing.module.js';
import { MachinesController } from './rest/machines.controller.js';
import { McpController } from './rest/mcp.controller.js';
import { IdempotencyInterceptor } from './rest/idempotency.interceptor.js';
import { ModelsController } from './rest/models.controller.js';
import { MonitoringController } from './rest/monitoring.controller.js';
import { ProofController } from './rest/proof.controller.js';
import { SessionLogController } from './rest/session-log.controller.js';
import { OperationsController } from './rest/operations.controller.js';
import { ProblemFilter } from './rest/problem.filter.js';
import { RulesController } from './rest/rules.controller.js';
import { ServerController } from './rest/server.controller.js';
import { SessionCallsController } from './rest/session-calls.controller.js';
import { SessionContentsController } from './rest/session-contents.controller.js';
import { SessionEventsController } from './rest/session-events.controller.js';
import { SessionFilesController } from './rest/session-files.controller.js';
import { SessionsController } from './rest/sessions.controller.js';
import { SettingsController } from './rest/settings.controller.js';
import { TokensController } from './rest/tokens.controller.js';
import { UsersController } from './rest/users.controller.js';
import { TerminalInput } from './dashboard/terminal-input.js';
import { McpConnections } from './mcp/mcp-connections.js';
import { McpResources } from './mcp/mcp-resources.js';
import { McpServerController } from './mcp/mcp-server.controller.js';
import { OAuthClients } from './oauth/oauth-clients.store.js';
import { OAuthController } from './oauth/oauth.controller.js';
import { OAuthService } from './oauth/oauth.service.js';
import { TemplatesController } from './rest/templates.controller.js';
import { ViewerLinksController } from './rest/viewer-links.controller.js';
import { UploadsController } from './rest/uploads.controller.js';
import { SocketCounts } from './limits/socket-counts.js';
import { Upgrades } from './upgrades.js';
import { WebSocketApi } from './websocket/web-socket-api.js';

@Module({
  imports: [
    ActionsModule,
    AgentsModule,
    AutomationsModule,
    ContainersModule,
    SessionsModule,
    GitModule,
    PublishingModule,
    ProofModule,
    ApprovalsModule,
    EvaluationsModule,
    McpModule,
    ActionsModule,
    ModelsModule,
    SandboxesModule,
    SettingsModule,
  ],
  controllers: [
    SessionsController,
    SessionCallsController,
    SessionContentsController,
    SessionEventsController,
    SessionLogController,
    ProofController,
    SessionFilesController,
    OperationsController,
    GptController,
    GptDocumentsController,
    AutomationsController,
    ComparisonsController,
    EvaluationsController,
    UploadsController,
    GitController,
    HooksController,
    SessionPublishController,
    SessionPreviewController,
    MachinesController,
    ModelsController,
    McpController,
    ActionCallsController,
    ActionsController,
    AgentsController,
    RulesController,
    SettingsController,
    TemplatesController,
    TokensController,
    UsersController,
    ViewerLinksController,
    AuditController,
    ServerController,
    MonitoringController,
    McpServerController,
    OAuthController,
  ],
  providers: [
    AddressCheck,
    Conversations,
    DashboardGateway,
    GptCalls,
    GptRuns,
    GptSessions,
    Identity,
    OwnTokens,
    Logins,
    McpConnections,
    McpResources,
    OAuthClients,
    OAuthService,
    PasswordCheck,
    NamedCalls,
    CommandsElsewhere,
    LifecycleCommands,
    OwnCommands,
    SessionCommands,
    AcpApi,
    AcpConfig,
    AcpContent,
    AcpLive,
    AcpServices,
    Upgrades,
    ServerChecks,
    SessionRelay,
    SocketCounts,
    TerminalInput,
    WebSocketApi,
    PublicUrl,
    PreviewAddress,
    PreviewGrants,
    PreviewServer,
    PreviewStreams,
    { provide: APP_GUARD, useClass: AccessGuard },
    { provide: APP_FILTER, useClass: ProblemFilter },
    { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
  ],
  exports: [DashboardGateway],
})
export class ApiModule {}
