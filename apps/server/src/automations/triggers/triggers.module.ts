import { Module } from '@nestjs/common';
import { GitModule } from '../../git/git.module.js';
import { DefinitionsModule } from '../definitions/definitions.module.js';
import { ForgesModule } from '../forges/forges.module.js';
import { RunsModule } from '../runs/runs.module.js';
import { Deliveries } from './deliveries.js';
import { DeliveryRows } from './delivery-rows.js';
import { ForgeQuestions } from './forge-questions.js';
import { PastSessionEnds } from './past-session-ends.js';
import { PollCursorRows } from './polling/poll-cursor-rows.js';
import { PollLists } from './polling/poll-lists.js';
import { Polling } from './polling/polling.js';
import { Schedules } from './schedules.js';
import { SessionEndTrigger } from './session-ends.js';
import { UrlTrigger } from './url-trigger.js';
import { Webhooks } from './webhooks/webhooks.js';

/** What begins runs: webhooks, polling, times, addresses, and the ends of sessions. */
@Module({
  imports: [GitModule, DefinitionsModule, ForgesModule, RunsModule],
  providers: [
    Deliveries,
    DeliveryRows,
    ForgeQuestions,
    PastSessionEnds,
    PollCursorRows,
    PollLists,
    Polling,
    Schedules,
    SessionEndTrigger,
    UrlTrigger,
    Webhooks,
  ],
  exports: [Deliveries, UrlTrigger, Webhooks],
})
export class TriggersModule {}
