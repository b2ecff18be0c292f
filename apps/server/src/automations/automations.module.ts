import { Module } from '@nestjs/common';
import { AutomationChanges } from './automation-changes.js';
import { AutomationViews } from './automation-views.js';
import { ClockModule } from './clock.module.js';
import { DefinitionsModule } from './definitions/definitions.module.js';
import { ForgesModule } from './forges/forges.module.js';
import { RepositoryFilesModule } from './repository-files/repository-files.module.js';
import { RunsModule } from './runs/runs.module.js';
import { TriggersModule } from './triggers/triggers.module.js';

/** What happens begins sessions, by rules that the server enforces, and what comes of them is published. */
@Module({
  imports: [
    ClockModule,
    DefinitionsModule,
    ForgesModule,
    RepositoryFilesModule,
    RunsModule,
    TriggersModule,
  ],
  providers: [AutomationChanges, AutomationViews],
  exports: [
    AutomationChanges,
    AutomationViews,
    DefinitionsModule,
    ForgesModule,
    RunsModule,
    TriggersModule,
  ],
})
export class AutomationsModule {}
