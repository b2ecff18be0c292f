import { Module } from '@nestjs/common';
import { GitModule } from '../git/git.module.js';
import { ActionsModule } from '../actions/actions.module.js';
import { AgentsModule } from '../agents/agents.module.js';
import { ContainersModule } from '../containers/containers.module.js';
import { McpModule } from '../mcp/mcp.module.js';
import { ModelsModule } from '../models/models.module.js';
import { SandboxesModule } from '../sandboxes/sandboxes.module.js';
import { SettingsModule } from '../settings/settings.module.js';
import { AgentAndModel } from './agent-and-model.js';
import { AgentLeftovers } from './agent-leftovers.js';
import { NewTools } from './new-tools.js';
import { AgentFeed } from './agent-feed.js';
import { ClonedWorkspaces } from './cloned-workspaces.js';
import { NewWorkspaces } from './new-workspaces.js';
import { SessionBeginners } from './session-beginners.js';
import { Dispatcher } from './dispatcher.js';
import { EventFeed } from './feed/event-feed.js';
import { PeerSockets } from './feed/peer-sockets.js';
import { RemoteFollowers } from './feed/remote-followers.js';
import { RemoteSummaries } from './feed/remote-summaries.js';
import { FeedSources } from './feed/session-followers.js';
import { Examples } from './examples.js';
import { Exports } from './exports.js';
import { ForkFiles } from './fork-files.js';
import { Forking } from './forking.js';
import { IncomingWorkspaces } from './incoming-workspaces.js';
import { Leftovers } from './leftovers.js';
import { LoadReport } from './load-report.js';
import { MachineDraining } from './machine-draining.js';
import { MachineRemoval } from './machine-removal.js';
import { LogSteps } from './log-steps.js';
import { Recovery } from './recovery.js';
import { Rewinding } from './rewinding.js';
import { SandboxSlots } from './sandbox-slots.js';
import { Search } from './search.js';
import { NewSettings } from './new-settings.js';
import { ComparisonStore } from './comparison.store.js';
import { Comparisons } from './comparisons.js';
import { SessionChecks } from './session-checks.js';
import { SessionClaims } from './session-claims.js';
import { SessionCreation } from './session-creation.js';
import { SessionEnds } from './session-ends.js';
import { SessionFiles } from './session-files.js';
import { SessionRemoval } from './session-removal.js';
import { SessionService } from './session.service.js';
import { SignIns } from './sign-ins.js';
import { SessionPlacement } from './session-placement.js';
import { SessionPlaces } from './session-places.js';
import { StartPayloads } from './start-payloads.js';
import { StartQueue } from './start-queue.js';
import { StartStatus } from './start-status.js';
import { Takeovers } from './takeovers.js';
import { Transcripts } from './transcripts.js';
import { WorkspaceStore } from './workspace.store.js';

@Module({
  imports: [
    ActionsModule,
    AgentsModule,
    ContainersModule,
    GitModule,
    McpModule,
    ModelsModule,
    SandboxesModule,
    SettingsModule,
  ],
  providers: [
    AgentFeed,
    AgentAndModel,
    AgentLeftovers,
    NewTools,
    ClonedWorkspaces,
    ComparisonStore,
    Comparisons,
    NewWorkspaces,
    SessionBeginners,
    Dispatcher,
    EventFeed,
    Examples,
    Exports,
    FeedSources,
    ForkFiles,
    Forking,
    IncomingWorkspaces,
    Leftovers,
    LogSteps,
    MachineDraining,
    MachineRemoval,
    PeerSockets,
    Recovery,
    RemoteFollowers,
    RemoteSummaries,
    Rewinding,
    SandboxSlots,
    LoadReport,
    Search,
    NewSettings,
    SessionChecks,
    SessionClaims,
    SessionCreation,
    SessionEnds,
    SessionFiles,
    SessionPlacement,
    SessionPlaces,
    SessionRemoval,
    SessionService,
    SignIns,
    StartPayloads,
    StartQueue,
    StartStatus,
    Takeovers,
    Transcripts,
    WorkspaceStore,
  ],
  exports: [
    Comparisons,
    MachineDraining,
    MachineRemoval,
    Dispatcher,
    EventFeed,
    Examples,
    Exports,
    FeedSources,
    RemoteFollowers,
    Forking,
    Rewinding,
    Search,
    SessionChecks,
    SessionClaims,
    SessionCreation,
    SessionFiles,
    SessionRemoval,
    SessionService,
    SignIns,
    Transcripts,
    WorkspaceStore,
  ],
})
export class SessionsModule {}
