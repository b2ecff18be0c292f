import { Module } from '@nestjs/common';
import { ActionsModule } from '../../actions/actions.module.js';
import { AgentsModule } from '../../agents/agents.module.js';
import { GitModule } from '../../git/git.module.js';
import { McpModule } from '../../mcp/mcp.module.js';
import { ModelsModule } from '../../models/models.module.js';
import { SettingsModule } from '../../settings/settings.module.js';
import { AutomationsStore } from './automations.store.js';
import { DefinitionChecks } from './definition-checks.js';
import { DefinitionReader } from './definition-reader.js';
import { SelfPauses } from './self-pauses.js';

/** Definitions of automations: reading, checking and keeping them. */
@Module({
  imports: [ActionsModule, AgentsModule, GitModule, McpModule, ModelsModule, SettingsModule],
  providers: [AutomationsStore, DefinitionChecks, DefinitionReader, SelfPauses],
  exports: [AutomationsStore, DefinitionReader, SelfPauses],
})
export class DefinitionsModule {}
