import { Module } from '@nestjs/common';
import { GitModule } from '../../git/git.module.js';
import { DefinitionsModule } from '../definitions/definitions.module.js';
import { ForgesModule } from '../forges/forges.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { DefinitionFiles } from './definition-files.js';
import { FileAutomations } from './file-automations.js';
import { RepositoryDefinitions } from './repository-definitions.js';

/** Automations that are files of repositories. */
@Module({
  imports: [DefinitionsModule, ForgesModule, GitModule, RunsModule],
  providers: [DefinitionFiles, FileAutomations, RepositoryDefinitions],
  exports: [RepositoryDefinitions],
})
export class RepositoryFilesModule {}
