import { Module } from '@nestjs/common';
import { LogsModule } from '../../logs/logs.module.js';
import { SessionsModule } from '../../sessions/sessions.module.js';
import { SettingsModule } from '../../settings/settings.module.js';
import { DefinitionsModule } from '../definitions/definitions.module.js';
import { ForgesModule } from '../forges/forges.module.js';
import { OutModule } from '../out/out.module.js';
import { TrustModule } from '../trust/trust.module.js';
import { AutomationRuns } from './automation-runs.js';
import { LaneResets } from './lane-resets.js';
import { Lanes } from './lanes.js';
import { RunBeginnings } from './run-beginnings.js';
import { RunCallers } from './run-callers.js';
import { RunChanges } from './run-changes.js';
import { RunDecisions } from './run-decisions.js';
import { RunDeliveries } from './run-deliveries.js';
import { RunEnds } from './run-ends.js';
import { RunGrounds } from './run-grounds.js';
import { RunIntake } from './run-intake.js';
import { RunLoop } from './run-loop.js';
import { RunRequests } from './run-requests.js';
import { RunResults } from './run-results.js';
import { RunSpending } from './run-spending.js';
import { RunStarts } from './run-starts.js';
import { RunSteps } from './run-steps.js';
import { RunStops } from './run-stops.js';
import { RunTasks } from './run-tasks.js';
import { RunViews } from './run-views.js';
import { RunWork } from './run-work.js';
import { RunsStore } from './runs.store.js';

/** The runs of automations, from their first row to their end. */
@Module({
  imports: [
    DefinitionsModule,
    ForgesModule,
    LogsModule,
    OutModule,
    SessionsModule,
    SettingsModule,
    TrustModule,
  ],
  providers: [
    AutomationRuns,
    LaneResets,
    Lanes,
    RunBeginnings,
    RunCallers,
    RunChanges,
    RunDecisions,
    RunDeliveries,
    RunEnds,
    RunGrounds,
    RunIntake,
    RunLoop,
    RunRequests,
    RunResults,
    RunSpending,
    RunStarts,
    RunSteps,
    RunStops,
    RunTasks,
    RunViews,
    RunWork,
    RunsStore,
  ],
  exports: [AutomationRuns, RunCallers, RunIntake, RunViews, RunsStore],
})
export class RunsModule {}
