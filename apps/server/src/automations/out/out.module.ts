import { Module } from '@nestjs/common';
import { GitModule } from '../../git/git.module.js';
import { LogsModule } from '../../logs/logs.module.js';
import { PublishingModule } from '../../publishing/publishing.module.js';
import { ForgesModule } from '../forges/forges.module.js';
import { KnownSecrets } from './known-secrets.js';
import { OpenPulls } from './open-pulls.js';
import { Outgoing } from './outgoing.js';
import { OutgoingPlans } from './outgoing-plans.js';
import { OutgoingCheck } from './outgoing-check.js';
import { OutgoingStore } from './outgoing.store.js';
import { PullLines } from './pull-lines.js';
import { PullTexts } from './pull-texts.js';
import { PushPlans } from './push-plans.js';
import { RunPublisher } from './run-publisher.js';
import { RunReports } from './run-reports.js';

/** What runs of automations send to git hosts. */
@Module({
  imports: [ForgesModule, GitModule, LogsModule, PublishingModule],
  providers: [
    KnownSecrets,
    OpenPulls,
    Outgoing,
    OutgoingCheck,
    OutgoingPlans,
    OutgoingStore,
    PullLines,
    PullTexts,
    PushPlans,
    RunPublisher,
    RunReports,
  ],
  exports: [Outgoing, OutgoingCheck, RunPublisher, RunReports],
})
export class OutModule {}
