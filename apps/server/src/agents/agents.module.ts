import { Module } from '@nestjs/common';
import { ApprovalsModule } from '../approvals/approvals.module.js';
import { ContainersModule } from '../containers/containers.module.js';
import { ModelsModule } from '../models/models.module.js';
import { AgentInstaller } from './agent-installer.js';
import { AgentList } from './agent-list.js';
import { AgentStore } from './agent.store.js';
import { AgentVolumes } from './agent-volumes.js';
import { ImageLibraries } from './image-libraries.js';
import { InstallableAgents } from './installable-agents.js';
import { OtherVersions } from './other-versions.js';
import { SessionAgents } from './session-agents.js';
import { SignInStore } from './sign-in.store.js';
import { WireCalls } from './wire-calls.js';

@Module({
  imports: [ApprovalsModule, ContainersModule, ModelsModule],
  providers: [
    AgentInstaller,
    AgentList,
    AgentStore,
    AgentVolumes,
    ImageLibraries,
    InstallableAgents,
    OtherVersions,
    SessionAgents,
    SignInStore,
    WireCalls,
  ],
  exports: [
    AgentInstaller,
    AgentList,
    AgentStore,
    AgentVolumes,
    InstallableAgents,
    OtherVersions,
    SessionAgents,
    SignInStore,
    WireCalls,
  ],
})
export class AgentsModule {}
