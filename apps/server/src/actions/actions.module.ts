import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { ContainersModule } from '../containers/containers.module.js';
import { EgressModule } from '../egress/egress.module.js';
import { GitModule } from '../git/git.module.js';
import { McpModule } from '../mcp/mcp.module.js';
import { ProgramsModule } from '../programs/programs.module.js';
import { ActionCalls } from './action-calls.js';
import { ActionInstaller } from './action-installer.js';
import { ActionInstalls } from './action-installs.js';
import { ActionRunner } from './action-runner.js';
import { ActionSources } from './action-sources.js';
import { ActionStore } from './action.store.js';
import { BackgroundCalls } from './background-calls.js';
import { ActionContainers } from './containers/action-containers.js';
import { ActionImages } from './containers/action-images.js';
import { SessionWorkspaces } from './containers/session-workspaces.js';
import { DirectCalls } from './direct-calls.js';
import { InstalledActions } from './installed-actions.js';
import { InstalledServers } from './installed-servers.js';
import { PulledImages } from './pulled-images.js';
import { ActionRepositories } from './action-repositories.js';
import { SkillReader } from './skill-reader.js';

@Module({
  imports: [
    AccessModule,
    ApprovalsModule,
    ContainersModule,
    EgressModule,
    GitModule,
    McpModule,
    ProgramsModule,
  ],
  providers: [
    ActionCalls,
    ActionContainers,
    ActionImages,
    ActionInstaller,
    ActionInstalls,
    ActionRunner,
    ActionSources,
    ActionStore,
    BackgroundCalls,
    DirectCalls,
    InstalledActions,
    InstalledServers,
    PulledImages,
    ActionRepositories,
    SessionWorkspaces,
    SkillReader,
  ],
  exports: [
    ActionCalls,
    ActionInstaller,
    ActionInstalls,
    ActionRunner,
    ActionSources,
    ActionStore,
    DirectCalls,
    InstalledActions,
    InstalledServers,
    SessionWorkspaces,
  ],
})
export class ActionsModule {}
