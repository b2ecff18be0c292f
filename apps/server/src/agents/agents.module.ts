import { Module } from '@nestjs/common';
import { ProgramsModule } from '../programs/programs.module.js';
import { AgentInstaller } from './agent-installer.js';
import { AgentList } from './agent-list.js';
import { AgentStore } from './agent.store.js';
import { AgentVolumes } from './agent-volumes.js';
import { ImageLibraries } from './image-libraries.js';
import { InstallableAgents } from './installable-agents.js';
import { SessionAgents } from './session-agents.js';

@Module({
  imports: [ProgramsModule],
  providers: [
    AgentInstaller,
    AgentList,
    AgentStore,
    AgentVolumes,
    ImageLibraries,
    InstallableAgents,
    SessionAgents,
  ],
  exports: [AgentInstaller, AgentList, AgentStore, InstallableAgents, SessionAgents],
})
export class AgentsModule {}
