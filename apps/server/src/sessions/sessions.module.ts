import { Module } from '@nestjs/common';
import { McpModule } from '../mcp/mcp.module.js';
import { ModelsModule } from '../models/models.module.js';
import { SandboxesModule } from '../sandboxes/sandboxes.module.js';
import { SettingsModule } from '../settings/settings.module.js';
import { AgentFeed } from './agent-feed.js';
import { Dispatcher } from './dispatcher.js';
import { Examples } from './examples.js';
import { Exports } from './exports.js';
import { Forking } from './forking.js';
import { Launcher } from './launcher.js';
import { Leftovers } from './leftovers.js';
import { Recovery } from './recovery.js';
import { Search } from './search.js';
import { SessionService } from './session.service.js';
import { WorkspaceStore } from './workspace.store.js';

@Module({
  imports: [McpModule, ModelsModule, SandboxesModule, SettingsModule],
  providers: [
    AgentFeed,
    Dispatcher,
    Examples,
    Exports,
    Forking,
    Launcher,
    Leftovers,
    Recovery,
    Search,
    SessionService,
    WorkspaceStore,
  ],
  exports: [Dispatcher, Examples, Exports, Forking, Search, SessionService, WorkspaceStore],
})
export class SessionsModule {}
